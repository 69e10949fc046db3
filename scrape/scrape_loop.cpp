#include "scrape/scrape_loop.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/sample.h"

namespace vagt::scrape {
namespace {

constexpr std::array<std::string_view, 8> kReportNames = {"up",
                                                          "scrape_duration_seconds",
                                                          "scrape_samples_scraped",
                                                          "scrape_samples_post_metric_relabeling",
                                                          "scrape_series_added",
                                                          "scrape_timeout_seconds",
                                                          "scrape_sample_limit",
                                                          "scrape_body_size_bytes"};
constexpr size_t kAlwaysReported = 5;

std::string_view reason_phrase(int status) {
  static constexpr std::pair<int, std::string_view> kPhrases[] = {
      {100, "Continue"},
      {101, "Switching Protocols"},
      {201, "Created"},
      {202, "Accepted"},
      {203, "Non-Authoritative Information"},
      {204, "No Content"},
      {205, "Reset Content"},
      {206, "Partial Content"},
      {300, "Multiple Choices"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {402, "Payment Required"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {407, "Proxy Authentication Required"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Request Entity Too Large"},
      {414, "Request URI Too Long"},
      {415, "Unsupported Media Type"},
      {418, "I'm a teapot"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Entity"},
      {423, "Locked"},
      {425, "Too Early"},
      {426, "Upgrade Required"},
      {428, "Precondition Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {451, "Unavailable For Legal Reasons"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
      {511, "Network Authentication Required"}};
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "";
}

Status body_limit_error(uint64_t limit) {
  return Status(Code::LimitExceeded, fmt::format("body size limit exceeded ({} bytes)", limit));
}

Labels report_labels(const Labels& target, std::string_view name) {
  return LabelsBuilder(target).set(kMetricName, name).build();
}

// Creates the series where the ref is unknown or retired. A refused report series is left out.
void append_to(tsdb::Appender& appender, const Labels& target, std::string_view name,
               tsdb::SeriesRef& ref, Sample sample) {
  if (ref != tsdb::SeriesRef::None && appender.append(ref, sample) != Code::NotFound) return;
  const auto created = appender.series(report_labels(target, name));
  if (!created) return;
  ref = *created;
  static_cast<void>(
      appender.append(ref, sample));  // out of order: the same time was scraped before
}

// Errors quote the page: to logs and pages a megabyte of it must not go along.
std::string without_middle(std::string text) {
  constexpr size_t kBegin = 300, kEnd = 200;
  if (text.size() <= kBegin + kEnd) return text;
  const auto is_inside = [&text](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;  // of a rune
  };
  size_t begin = kBegin, end = text.size() - kEnd;
  while (begin > 0 && is_inside(begin)) --begin;
  while (end < text.size() && is_inside(end)) ++end;
  return text.substr(0, begin) + " … " + text.substr(end);
}

void count_warning(std::vector<std::string>& warnings, uint64_t n, std::string_view what) {
  if (n != 0) warnings.push_back(fmt::format("{} {}", n, what));
}

}  // namespace

std::string http_status_error(int status) {
  return fmt::format("server returned HTTP status {} {}", status, reason_phrase(status));
}

ScrapeLoop::ScrapeLoop(Labels target, uint64_t seed, MetadataTable& table)
    : target_(std::move(target)), table_(table), cache_(seed) {}

Result<ScrapeLoop::Page> ScrapeLoop::open_page(const Result<net::HttpResponse>& answer,
                                               const ScrapeJob& job, uint64_t body_limit,
                                               ScrapeOutcome& outcome) const {
  if (!answer)
    return answer.error().code() == Code::LimitExceeded ? body_limit_error(body_limit)
                                                        : answer.error();
  if (answer->status != 200) return Status(Code::Unavailable, http_status_error(answer->status));
  Page page{answer->body, exposition::Format::Text, ""};
  if (const auto encoding = answer->header("Content-Encoding"); !encoding.empty()) {
    auto inflated = net::decompress(answer->body, encoding, body_limit);
    if (!inflated) {
      return inflated.error().code() == Code::LimitExceeded ? body_limit_error(body_limit)
                                                            : inflated.error();
    }
    page.decompressed = std::move(*inflated);
    page.body = page.decompressed;
  }
  if (page.body.size() > body_limit) return body_limit_error(body_limit);
  outcome.body_bytes = page.body.size();
  VAGT_TRY(exposition::Negotiated spoken,
           exposition::negotiate(answer->header("Content-Type"), job.config.fallback_protocol));
  if (!spoken.warning.empty()) outcome.warnings.push_back(std::move(spoken.warning));
  page.format = spoken.format;
  return page;
}

ScrapeOutcome ScrapeLoop::ingest(const Result<net::HttpResponse>& answer,
                                 const ScrapeMoment& moment, const JobPtr& job, uint64_t body_limit,
                                 Duration timeout, tsdb::Store& store) {
  if (last_job_ != job) {
    if (last_job_) cache_.forget_texts();
    last_job_ = job;
  }
  ScrapeOutcome outcome;
  std::unique_ptr<tsdb::Appender> appender = store.appender();
  SeriesCache::Staged staged;
  MetadataPtr metadata = metadata_;
  Result<Page> page = open_page(answer, *job, body_limit, outcome);
  Status failure = page.status();
  if (page) {
    if (!page->decompressed.empty())
      page->body = page->decompressed;  // the move may have moved the text
    auto read = cache_.ingest(page->body, page->format, moment.at, target_, job->samples, *appender,
                              outcome.counts, moment.stop);
    failure = read.status();
    if (read) {
      staged = std::move(*read);
      if (staged.is_metadata_changed) update_metadata(*page, *appender, metadata);
    } else {
      appender = store.appender();  // takes back what the bad page began
    }
  }
  if (!failure.ok()) {
    outcome.error = without_middle(failure.message());
    outcome.code = failure.code();
    if (outcome.code == Code::Cancelled && moment.stop.stop_requested()) return outcome;
    staged = cache_.mark_stale(moment.at, *appender);
  }
  note_warnings(outcome);
  Refs refs = refs_;
  report(outcome, moment, *job, timeout, *appender, refs);
  outcome.commit = appender->commit();
  if (!outcome.commit.ok()) return outcome;
  outcome.committed = outcome.counts.kept + kAlwaysReported;
  if (tsdb::Exemplars* kept = store.exemplars(); kept != nullptr) {
    for (const SeriesCache::FoundExemplar& found : staged.exemplars)
      static_cast<void>(kept->add(found.series, found.exemplar));  // a repeated or late one
  }
  cache_.accept(std::move(staged));
  refs_ = refs;
  metadata_ = std::move(metadata);
  return outcome;
}

void ScrapeLoop::note_warnings(ScrapeOutcome& outcome) const {
  const PageCounts& counts = outcome.counts;
  count_warning(outcome.warnings, counts.repeated,
                "duplicate samples: a series occurs more than once");
  count_warning(outcome.warnings, counts.duplicate_time,
                "samples with a known timestamp but another value");
  count_warning(outcome.warnings, counts.out_of_order, "samples out of order");
  count_warning(outcome.warnings, counts.out_of_bounds, "samples too old or too far ahead");
  count_warning(outcome.warnings, counts.format.crlf_lines, "lines end in CR LF");
  count_warning(outcome.warnings, counts.format.signed_nans, "values are spelled -nan");
  if (counts.refused != 0) {
    outcome.warnings.push_back(
        fmt::format("{} new series refused: {}", counts.refused, counts.refused_reason));
  }
}

void ScrapeLoop::report(const ScrapeOutcome& outcome, const ScrapeMoment& moment,
                        const ScrapeJob& job, Duration timeout, tsdb::Appender& appender,
                        Refs& refs) const {
  const PageCounts& counts = outcome.counts;
  const std::array<double, kReportSeries> values = {outcome.error.empty() ? 1.0 : 0.0,
                                                    moment.took.count(),
                                                    static_cast<double>(counts.scraped),
                                                    static_cast<double>(counts.kept),
                                                    static_cast<double>(counts.added),
                                                    to_seconds(timeout),
                                                    static_cast<double>(job.config.limits.samples),
                                                    static_cast<double>(outcome.body_bytes)};
  const size_t n = job.config.extra_scrape_metrics ? kReportSeries : kAlwaysReported;
  for (size_t i = 0; i < n; ++i)
    append_to(appender, target_, kReportNames[i], refs[i], {moment.at, values[i]});
  for (size_t i = n; i < kReportSeries; ++i) {
    if (refs[i] != tsdb::SeriesRef::None)
      static_cast<void>(appender.append(refs[i], {moment.at, stale_marker()}));
    refs[i] = tsdb::SeriesRef::None;
  }
}

void ScrapeLoop::update_metadata(const Page& page, tsdb::Appender& appender, MetadataPtr& staged) {
  MetadataPtr now = table_.intern(collect_metadata(page.body, page.format));
  std::map<std::string_view, const tsdb::Metadata*> before;
  if (staged) {
    for (const MetricMetadata& m : *staged) before[m.metric] = &m.metadata;
  }
  for (const MetricMetadata& m : *now) {
    const auto known = before.find(m.metric);
    if (known == before.end() || *known->second != m.metadata)
      appender.metadata(m.metric, m.metadata);
  }
  staged = std::move(now);
}

Status ScrapeLoop::end(Timestamp at, tsdb::Store& store) {
  const std::unique_ptr<tsdb::Appender> appender = store.appender();
  SeriesCache::Staged staged = cache_.mark_stale(at, *appender);
  for (const tsdb::SeriesRef ref : refs_) {
    if (ref != tsdb::SeriesRef::None)
      static_cast<void>(appender->append(ref, {at, stale_marker()}));
  }
  VAGT_CHECK_OK(appender->commit());
  cache_.accept(std::move(staged));
  return {};
}

}  // namespace vagt::scrape

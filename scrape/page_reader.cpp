#include "scrape/page_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/sample.h"
#include "scrape/text_hash.h"

namespace vagt::scrape {

using exposition::EntryKind;
using exposition::MetricType;
using Kind = SeriesCache::Line::Kind;

// A page may not date its samples further ahead: one from the far future would make all that follow
// out of order.
constexpr Duration kMaxAhead = std::chrono::minutes(10);

PageReader::PageReader(const SeriesCache& cache, std::string_view body, exposition::Format format,
                       Timestamp at, const Labels& target, const SampleRules& rules,
                       tsdb::Appender& appender, PageCounts& counts)
    : cache_(cache),
      body_(body),
      format_(format),
      at_(at),
      target_(target),
      rules_(rules),
      appender_(appender),
      counts_(counts),
      parser_(body, format) {}

namespace {

constexpr uint64_t kLinesBetweenLooks = 4096;

}  // namespace

Status PageReader::too_many() const {
  return {Code::LimitExceeded, fmt::format("sample limit exceeded ({} samples, sample_limit {})",
                                           counts_.kept, rules_.limits.samples)};
}

// A page of more samples than there may be is refused before it makes a single series: half a
// million of them for nothing are hundreds of megabytes. Where relabelling may drop some, only the
// walk itself tells.
Status PageReader::refuse_at_once(const std::stop_token& stop) {
  constexpr size_t kShortestLine = 4;  // "a 1\n"
  const uint64_t limit = rules_.limits.samples;
  if (limit == 0 || body_.size() / kShortestLine <= limit || !rules_.metric_relabel.empty() ||
      static_cast<uint64_t>(std::count(body_.begin(), body_.end(), '\n')) <= limit)
    return {};
  uint64_t samples = 0;
  exposition::Parser page(body_, format_);
  for (uint64_t lines = 1; page.next(); ++lines) {
    if (page.entry().kind == EntryKind::Sample) ++samples;
    if (lines % kLinesBetweenLooks == 0 && stop.stop_requested())
      return {Code::Cancelled, "the program is ending"};
  }
  if (page.status().ok() && samples <= limit) return {};
  counts_.scraped = counts_.kept = samples;
  return page.status().ok() ? too_many() : page.status();
}

Result<SeriesCache::Staged> PageReader::read(const std::stop_token& stop) {
  Status status = refuse_at_once(stop);
  for (uint64_t lines = 1; status.ok(); ++lines) {
    if (lines % kLinesBetweenLooks == 0 && stop.stop_requested())
      return Status(Code::Cancelled, "the program is ending");
    if (take_predicted(status)) continue;
    if (!parser_.next()) {
      status = parser_.status();
      break;
    }
    status = take_unknown();
  }
  counts_.format = parser_.warnings();
  if (!status.ok()) return status;
  if (rules_.limits.samples != 0 && counts_.kept > rules_.limits.samples) return too_many();
  end_vanished();
  SeriesCache::Staged staged;
  staged.is_changed = changes_.has_value();
  staged.is_metadata_changed = is_metadata_changed_;
  if (changes_) staged.lines = std::move(changes_->lines);
  staged.exemplars = std::move(exemplars_);
  return staged;
}

// The text where the line would be is that line: same length, same hash, and it ends there.
bool PageReader::recognises(const Line& line) const {
  const std::string_view rest = parser_.rest();
  if (line.length == 0 || rest.size() < line.length) return false;
  if (line.kind == Kind::Sample || line.kind == Kind::Dropped) {
    const char last = rest[line.length - 1];
    const char behind = rest.size() > line.length ? rest[line.length] : '\n';
    if (last != '}' && behind != ' ' && behind != '\t') return false;
    return text_hash(rest.substr(0, line.length), cache_.seed_ + family_hash_) == line.hash;
  }
  return text_hash(rest.substr(0, line.length), cache_.seed_) == line.hash;
}

// False: the prediction failed and the page stands where it stood.
bool PageReader::take_predicted(Status& status) {
  if (predicted_ >= cache_.lines_.size() || parser_.at_end()) return false;
  // Lines in another order lead back to one that was there: that it comes again is for look_up().
  if (changes_ && changes_->seen[predicted_]) return false;
  const Line& line = cache_.lines_[predicted_];
  if (!recognises(line)) return false;
  if (line.kind == Kind::Comment || line.kind == Kind::Metadata) {
    const std::string_view text = parser_.rest().substr(0, line.length);
    if (!parser_.skip_line(line.length)) return false;
    enter_family(line.type_class, text, line.hash);
    remember(line, predicted_++);
    return true;
  }
  if (!parser_.next_known_series(line.length)) {
    status = parser_.status();
    return true;
  }
  // The line was longer than its beginning promised, and has been parsed as a whole.
  status = parser_.entry().raw_name.empty() ? take_known(predicted_) : take_unknown();
  return true;
}

void PageReader::enter_family(uint8_t type_class, std::string_view line, uint64_t hash) {
  if (type_class == 0) return;
  family_hash_ = type_class == 1 ? 0 : hash;
  type_class_ = static_cast<uint8_t>(type_class - 1);
  type_line_ = line;
}

CurrentFamily PageReader::current_family() const {
  if (type_class_ == 0) return {};
  exposition::Parser line(type_line_, exposition::Format::Text);
  if (!line.next() || line.entry().kind != EntryKind::Type) return {};
  return {type_class_ == 1 ? MetricType::Histogram : MetricType::Summary, line.entry().raw_name};
}

// An entry the parser has just read in full.
Status PageReader::take_unknown() {
  const exposition::Entry& entry = parser_.entry();
  if (entry.kind == EntryKind::Sample) return take_sample();
  Line line;
  line.kind = entry.kind == EntryKind::Comment ? Kind::Comment : Kind::Metadata;
  line.length = static_cast<uint32_t>(entry.text.size());
  line.hash = text_hash(entry.text, cache_.seed_);
  if (entry.kind == EntryKind::Type) {
    line.type_class = entry.type == MetricType::Histogram ? 2
                      : entry.type == MetricType::Summary ? 3
                                                          : 1;
  }
  enter_family(line.type_class, entry.text, line.hash);
  if (const auto index = look_up(line.hash, line.length); index && !changes().seen[*index]) {
    remember(line, *index);
    predicted_ = *index + 1;
    return {};
  }
  if (line.kind == Kind::Metadata) is_metadata_changed_ = true;
  changes().lines.push_back(line);
  return {};
}

Status PageReader::take_sample() {
  const std::string_view text = parser_.entry().text;
  const uint64_t hash = text_hash(text, cache_.seed_ + family_hash_);
  if (const auto index = look_up(hash, static_cast<uint32_t>(text.size()))) {
    if (changes().seen[*index] && cache_.lines_[*index].kind == Kind::Sample) {
      Line line = cache_.lines_[*index];
      line.repeats = true;
      changes().lines.push_back(line);
      ++counts_.scraped, ++counts_.kept, ++counts_.repeated;
      return {};
    }
    return take_known(*index);
  }
  return take_new_series(hash);
}

// A line of the last page, at `index`; the value has been read.
Status PageReader::take_known(size_t index) {
  Line line = cache_.lines_[index];
  const Status status = write_known(line, index);
  predicted_ = index + 1;
  return status;
}

Status PageReader::write_known(Line line, size_t index) {
  if (line.kind == Kind::Dropped) {
    ++counts_.scraped;
    remember(line, index);
    return {};
  }
  if (is_over_limit()) return {};
  if (line.repeats || (changes_ && (changes_->is_counting || cache_.has_repeats_))) {
    count_written();
    line.repeats = !changes_->written.insert(line.ref);
    if (line.repeats) {
      ++counts_.scraped, ++counts_.kept, ++counts_.repeated;
      remember(line, index);
      return {};
    }
  }
  const bool untracked = has_own_time() && !rules_.track_timestamps_staleness;
  if (untracked != line.untracked) changes();
  line.untracked = untracked;
  const Code code = append_entry(line.ref);
  if (code == Code::NotFound) {
    // The store has let go of the series: read the labels again.
    changes().seen[index] = true;
    return take_new_series(line.hash);
  }
  ++counts_.scraped, ++counts_.kept;
  remember(line, index);
  record(code);
  return {};
}

Status PageReader::take_new_series(uint64_t hash) {
  const exposition::Entry* entry = &parser_.entry();
  // A recognised line carries no labels: read its series text alone.
  std::string alone;
  std::optional<exposition::Parser> series;
  if (entry->raw_name.empty()) {
    alone = std::string(entry->text) + " 0\n";
    series.emplace(alone, exposition::Format::Text);
    if (!series->next()) return series->status();
    entry = &series->entry();
  }
  if (is_over_limit()) return {};
  ++counts_.scraped;
  Line line;
  line.hash = hash;
  line.length = static_cast<uint32_t>(parser_.entry().text.size());
  VAGT_TRY(const std::optional<Labels> labels,
           sample_labels(*entry, current_family(), target_, rules_));
  if (!labels) {
    line.kind = Kind::Dropped;
    changes().lines.push_back(line);
    return {};
  }
  ++counts_.kept;
  Result<tsdb::SeriesRef> ref = appender_.series(*labels);
  if (!ref) {
    if (ref.error().code() != Code::LimitExceeded) return ref.error();
    ++counts_.refused;
    counts_.refused_reason = ref.error().message();
    return {};
  }
  line.kind = Kind::Sample;
  line.ref = *ref;
  count_written();
  if (!changes_->written.insert(line.ref)) {
    line.repeats = true;
    ++counts_.repeated;
    changes_->lines.push_back(line);
    return {};
  }
  line.untracked = has_own_time() && !rules_.track_timestamps_staleness;
  changes_->lines.push_back(line);
  ++counts_.added;
  record(append_entry(line.ref));
  return {};
}

// Beyond the limit lines are only counted: the scrape has failed.
bool PageReader::is_over_limit() {
  if (rules_.limits.samples == 0 || counts_.kept < rules_.limits.samples) return false;
  ++counts_.scraped, ++counts_.kept;
  return true;
}

bool PageReader::has_own_time() const {
  return parser_.entry().has_timestamp && rules_.honor_timestamps;
}

Code PageReader::append_entry(tsdb::SeriesRef ref) {
  const exposition::Entry& entry = parser_.entry();
  const Timestamp t = has_own_time() ? from_millis(entry.timestamp_ms) : at_;
  if (t > at_ + kMaxAhead) return Code::OutOfBounds;
  const Code code = appender_.append(ref, {t, entry.value});
  if (entry.has_exemplar && code == Code::Ok) note_exemplar(ref, t);
  return code;
}

void PageReader::record(Code code) {
  if (code == Code::OutOfOrder) ++counts_.out_of_order;
  if (code == Code::OutOfBounds) ++counts_.out_of_bounds;
  if (code == Code::Duplicate) ++counts_.duplicate_time;
}

}  // namespace vagt::scrape

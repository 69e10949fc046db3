// One target's scrapes: from an answer to committed samples, report series and staleness. One
// thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "scrape/page_metadata.h"
#include "scrape/scrape_job.h"
#include "scrape/series_cache.h"
#include "tsdb/store.h"

namespace vagt::scrape {

// What came of one scrape.
struct ScrapeOutcome {
  std::string error;  // "" when up
  Code code = Code::Ok;
  PageCounts counts;
  uint64_t body_bytes = 0;            // after decompression
  std::vector<std::string> warnings;  // for people
  Status commit;                      // the store's word; not Ok: nothing of this scrape was stored
  size_t committed = 0;               // samples, report series included
};

struct ScrapeMoment {
  Timestamp at;                          // what the samples carry
  std::chrono::duration<double> took{};  // from sending to the answer
  std::stop_token stop{};  // the program ends: the page is left, the outcome is Cancelled
};

class ScrapeLoop {
 public:
  // `table` outlives it. `seed`: random per process.
  ScrapeLoop(Labels target, uint64_t seed, MetadataTable& table);

  // Takes the page (or the reason why there is none) into `store`. `body_limit` in bytes after
  // decompression.
  ScrapeOutcome ingest(const Result<net::HttpResponse>& answer, const ScrapeMoment& moment,
                       const JobPtr& job, uint64_t body_limit, Duration timeout,
                       tsdb::Store& store);
  // The target is gone for good: every series ends, the report series too.
  Status end(Timestamp at, tsdb::Store& store);

  MetadataPtr metadata() const { return metadata_; }
  size_t cached_lines() const { return cache_.size(); }

 private:
  struct Page {
    std::string_view body;
    exposition::Format format = exposition::Format::Text;
    std::string decompressed;
  };
  static constexpr size_t kReportSeries = 8;
  using Refs = std::array<tsdb::SeriesRef, kReportSeries>;

  Result<Page> open_page(const Result<net::HttpResponse>& answer, const ScrapeJob& job,
                         uint64_t body_limit, ScrapeOutcome& outcome) const;
  void note_warnings(ScrapeOutcome& outcome) const;
  void report(const ScrapeOutcome& outcome, const ScrapeMoment& moment, const ScrapeJob& job,
              Duration timeout, tsdb::Appender& appender, Refs& refs) const;
  void update_metadata(const Page& page, tsdb::Appender& appender, MetadataPtr& staged);

  const Labels target_;
  MetadataTable& table_;
  SeriesCache cache_;
  Refs refs_{};
  MetadataPtr metadata_;
  JobPtr last_job_;
};

// "server returned HTTP status 404 Not Found"
std::string http_status_error(int status);

}  // namespace vagt::scrape

// A target's memory of its last page: line by line, in order, which series each line was.
//
// A page comes in the same order each time. The next line is predicted, its text compared by length
// and hash, and a hit yields the SeriesRef without looking at a label or allocating. What differs
// is looked up by hash, then parsed.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "exposition/parse.h"
#include "scrape/sample_labels.h"
#include "tsdb/store.h"

namespace vagt::scrape {

// What one page came to.
struct PageCounts {
  uint64_t scraped = 0;   // samples on the page
  uint64_t kept = 0;      // after metric relabelling
  uint64_t added = 0;     // series that were not on the last page
  uint64_t repeated = 0;  // a series a second time; only the first counts
  uint64_t out_of_order = 0, out_of_bounds = 0, duplicate_time = 0;
  uint64_t refused = 0;  // new series over the store's budget
  uint64_t exemplars = 0;
  std::string refused_reason;
  exposition::Warnings format;
};

class SeriesCache {
 public:
  // One line of the page; 24 bytes, and there is one for each series held.
  struct Line {
    enum class Kind : uint8_t { Sample, Dropped, Comment, Metadata };
    uint64_t hash = 0;
    tsdb::SeriesRef ref = tsdb::SeriesRef::None;
    uint32_t length = 0;  // of the series text, or of the whole comment line
    Kind kind = Kind::Comment;
    uint8_t type_class =
        0;  // Metadata: what a TYPE line makes of the lines below it, plus one; 0: no TYPE line
    bool repeats = false;    // another line of the page is the same series
    bool untracked = false;  // carries its own timestamp: its absence says nothing
  };
  // An exemplar that was not there the last time.
  struct FoundExemplar {
    tsdb::SeriesRef ref = tsdb::SeriesRef::None;
    uint64_t hash = 0;  // of all it says
    Labels series;
    tsdb::Exemplar exemplar;
  };
  // The page as it will be remembered once its samples are committed.
  struct Staged {
    bool is_changed = false;
    bool is_live = true;
    bool is_metadata_changed = false;
    std::vector<Line> lines;  // when changed
    std::vector<FoundExemplar> exemplars;
  };

  // `seed`: of the text hash, random per process.
  explicit SeriesCache(uint64_t seed) : seed_(seed) {}

  // Appends the page's samples at `at` (or at their own timestamps) and stale markers for series
  // that left it. An error names the line: the caller drops the appender and the cache is as
  // before. `counts` is filled either way. Cancelled: asked to stop.
  Result<Staged> ingest(std::string_view body, exposition::Format format, Timestamp at,
                        const Labels& target, const SampleRules& rules, tsdb::Appender& appender,
                        PageCounts& counts, const std::stop_token& stop = {}) const;
  // Appends a stale marker for every series of the last page; nothing when that was done.
  Staged mark_stale(Timestamp at, tsdb::Appender& appender) const;
  // After a commit.
  void accept(Staged staged);
  // The rules changed: the next page is read afresh. Its lines still end the series that it no
  // longer has.
  void forget_texts();

  size_t size() const { return lines_.size(); }

 private:
  friend class PageReader;
  const uint64_t seed_;
  std::vector<Line> lines_;
  std::unordered_map<uint64_t, uint64_t> exemplars_;  // ref → hash of its last one
  bool is_live_ = false;                              // the series have no stale marker
  bool has_repeats_ = false;
};

}  // namespace vagt::scrape

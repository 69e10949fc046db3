// One walk over one page against the cache of the last one. Lives as long as the walk.
#pragma once

#include <optional>
#include <vector>

#include "scrape/ref_set.h"
#include "scrape/series_cache.h"

namespace vagt::scrape {

// The page departs from the prediction: from here on a new list is kept.
struct PageChanges {
  std::vector<SeriesCache::Line> lines;
  // By index into the cache's lines.
  std::vector<bool> seen;
  // Hash → index + 1 into the cache's lines; built at the first look-up.
  std::vector<uint32_t> index;
  // Kept once is_counting.
  RefSet written;
  bool is_counting = false;
};

class PageReader {
 public:
  PageReader(const SeriesCache& cache, std::string_view body, exposition::Format format,
             Timestamp at, const Labels& target, const SampleRules& rules, tsdb::Appender& appender,
             PageCounts& counts);
  Result<SeriesCache::Staged> read(const std::stop_token& stop = {});

 private:
  using Line = SeriesCache::Line;

  Status refuse_at_once(const std::stop_token& stop);
  Status too_many() const;
  bool take_predicted(Status& status);
  bool recognises(const Line& line) const;
  Status take_unknown();
  Status take_sample();
  Status take_new_series(uint64_t hash);
  Status take_known(size_t index);
  Status write_known(Line line, size_t index);
  void enter_family(uint8_t type_class, std::string_view line, uint64_t hash);
  bool is_over_limit();
  bool has_own_time() const;
  Code append_entry(tsdb::SeriesRef ref);
  void note_exemplar(tsdb::SeriesRef ref, Timestamp sample_time);
  Result<std::optional<Labels>> labels_of_entry() const;
  void record(Code code);
  void end_vanished();

  PageChanges& changes();
  void remember(const Line& line, size_t index);
  std::optional<size_t> look_up(uint64_t hash, uint32_t length);
  void count_written();
  CurrentFamily current_family() const;

  const SeriesCache& cache_;
  const std::string_view body_;
  const exposition::Format format_;
  const Timestamp at_;
  const Labels& target_;
  const SampleRules& rules_;
  tsdb::Appender& appender_;
  PageCounts& counts_;
  exposition::Parser parser_;
  std::optional<PageChanges> changes_;
  std::vector<SeriesCache::FoundExemplar> exemplars_;
  size_t predicted_ = 0;
  uint8_t type_class_ = 0;  // 0 plain, 1 histogram, 2 summary
  // Below a TYPE line of these two, a sample's text is another series than elsewhere: the line's
  // hash goes into that of the sample.
  uint64_t family_hash_ = 0;
  std::string_view type_line_;
  bool is_metadata_changed_ = false;
};

}  // namespace vagt::scrape

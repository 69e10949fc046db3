// The index of a day on disk: which series its chunks belong to.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "tsdb/database.h"
#include "tsdb/keys.h"

namespace vagt::tsdb {

class SealedIndex {
 public:
  explicit SealedIndex(const Database& db) : db_(db) {}
  // Adds the ids of a day that may match: every one that does is there; the caller checks labels.
  Status select(Day day, std::span<const Matcher> matchers, std::set<SeriesId>& out) const;
  Result<std::optional<Labels>> labels(SeriesId id) const;
  // All series of a day.
  Result<std::vector<SeriesId>> all(Day day) const;

 private:
  Status collect(Day day, const Matcher& matcher, std::vector<SeriesId>& out) const;
  Status collect_values(Day day, const Matcher& matcher, std::vector<SeriesId>& out) const;
  Status collect_value(Day day, std::string_view name, std::string_view value,
                       std::vector<SeriesId>& out) const;
  const Database& db_;
};

// Gathers the postings of chunks about to be written; one append per label pair.
class PostingsBatch {
 public:
  void add(Day day, SeriesId id, const Labels& labels);
  void write(Batch& batch) const;

 private:
  std::map<std::string, std::string> lists_;  // key → ids
};

}  // namespace vagt::tsdb

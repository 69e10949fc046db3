// What operators do to label sets: dropping names, picking by/without, indexing groups.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/labels.h"

namespace vagt::query {

// __name__, __type__ and __unit__.
bool is_metadata_label(std::string_view name);
// Without __name__, __type__ and __unit__: what a computed value no longer is.
Labels without_metadata(const Labels& labels);

// The part of a label set that by(…)/on(…) or without(…)/ignoring(…) leaves.
class LabelPick {
 public:
  // `without` leaves out __name__ too.
  LabelPick(std::vector<std::string> names, bool without);

  Labels pick(const Labels& labels) const;
  uint64_t hash(const Labels& labels) const;
  bool picks_equal(const Labels& labels, const Labels& picked) const;

 private:
  template <class Visit>
  void each(const Labels& labels, Visit&& visit) const;

  std::vector<std::string> names_;  // sorted
  const bool without_;
};

// Numbers the distinct picks, in order of appearance.
class GroupIndex {
 public:
  explicit GroupIndex(LabelPick pick) : pick_(std::move(pick)) {}

  static constexpr size_t kNone = SIZE_MAX;
  size_t find(const Labels& labels) const;  // kNone when it is a new one
  size_t find_or_add(const Labels& labels);
  const std::vector<Labels>& groups() const { return groups_; }
  size_t size() const { return groups_.size(); }

 private:
  LabelPick pick_;
  std::unordered_multimap<uint64_t, size_t> by_hash_;
  std::vector<Labels> groups_;
};

}  // namespace vagt::query

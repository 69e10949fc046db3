#include "query/operators/label_sets.h"

#include <algorithm>

namespace vagt::query {
namespace {

uint64_t mix(uint64_t hash, std::string_view text) {
  hash ^= std::hash<std::string_view>()(text) + 0x9e3779b97f4a7c15ULL + (hash << 6U) + (hash >> 2U);
  return hash * 0xff51afd7ed558ccdULL;
}

}  // namespace

bool is_metadata_label(std::string_view name) {
  return name.substr(0, 2) == "__" &&
         (name == kMetricName || name == "__type__" || name == "__unit__");
}

Labels without_metadata(const Labels& labels) {
  const std::span<const Label> items = labels.items();
  if (std::none_of(items.begin(), items.end(),
                   [](const Label& l) { return is_metadata_label(l.name); }))
    return labels;
  std::vector<Label> kept;
  kept.reserve(items.size());
  for (const Label& label : items) {
    if (!is_metadata_label(label.name)) kept.push_back(label);
  }
  return Labels::from_sorted(kept);
}

LabelPick::LabelPick(std::vector<std::string> names, bool without)
    : names_(std::move(names)), without_(without) {
  if (without_) names_.emplace_back(kMetricName);
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

// Both lists are sorted by name, so one walk over the two finds what is picked.
template <class Visit>
void LabelPick::each(const Labels& labels, Visit&& visit) const {
  auto name = names_.begin();
  for (const Label& label : labels.items()) {
    while (name != names_.end() && std::string_view(*name) < label.name) ++name;
    const bool listed = name != names_.end() && std::string_view(*name) == label.name;
    if (listed != without_ && !visit(label)) return;
  }
}

Labels LabelPick::pick(const Labels& labels) const {
  std::vector<Label> kept;
  each(labels, [&](const Label& label) {
    kept.push_back(label);
    return true;
  });
  return Labels::from_sorted(kept);
}

uint64_t LabelPick::hash(const Labels& labels) const {
  uint64_t hash = 0;
  each(labels, [&](const Label& label) {
    hash = mix(mix(hash, label.name), label.value);
    return true;
  });
  return hash;
}

bool LabelPick::picks_equal(const Labels& labels, const Labels& picked) const {
  const std::span<const Label> expected = picked.items();
  size_t i = 0;
  bool equal = true;
  each(labels, [&](const Label& label) {
    equal = i < expected.size() && expected[i] == label;
    ++i;
    return equal;
  });
  return equal && i == expected.size();
}

size_t GroupIndex::find(const Labels& labels) const {
  const auto range = by_hash_.equal_range(pick_.hash(labels));
  for (auto it = range.first; it != range.second; ++it) {
    if (pick_.picks_equal(labels, groups_[it->second])) return it->second;
  }
  return kNone;
}

size_t GroupIndex::find_or_add(const Labels& labels) {
  const size_t found = find(labels);
  if (found != kNone) return found;
  by_hash_.emplace(pick_.hash(labels), groups_.size());
  groups_.push_back(pick_.pick(labels));
  return groups_.size() - 1;
}

}  // namespace vagt::query

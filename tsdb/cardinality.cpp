#include "tsdb/cardinality.h"

#include <algorithm>

namespace vagt::tsdb {

uint64_t& CardinalityCounter::slot(Counts& counts, std::string_view key) {
  if (const auto it = counts.find(key); it != counts.end()) return it->second;
  return counts.emplace(std::string(key), 0).first->second;
}

void CardinalityCounter::add(std::span<const Label> labels) {
  std::string pair;
  for (const Label& label : labels) {
    if (label.name == kMetricName) ++slot(metrics_, label.value);
    pair.assign(label.name).append("=").append(label.value);
    if (++slot(pairs_, pair) > 1) continue;
    ++slot(values_, label.name);
    slot(bytes_, label.name) += label.value.size();
  }
}

std::vector<NamedCount> CardinalityCounter::largest(const Counts& counts, size_t top) {
  std::vector<NamedCount> all;
  all.reserve(counts.size());
  for (const auto& [name, value] : counts) all.push_back({name, value});
  const auto before = [](const NamedCount& a, const NamedCount& b) {
    return a.value != b.value ? a.value > b.value : a.name < b.name;
  };
  const size_t kept = std::min(top, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                    before);
  all.resize(kept);
  return all;
}

CardinalityStats CardinalityCounter::finish(size_t top) const {
  CardinalityStats stats;
  stats.label_pairs = pairs_.size();
  stats.series_by_metric = largest(metrics_, top);
  stats.values_by_label = largest(values_, top);
  stats.bytes_by_label = largest(bytes_, top);
  stats.series_by_pair = largest(pairs_, top);
  return stats;
}

}  // namespace vagt::tsdb

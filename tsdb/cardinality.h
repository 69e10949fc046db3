// Counts what the series of a head have in common, for /api/v1/status/tsdb.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/labels.h"
#include "tsdb/store.h"

namespace vagt::tsdb {

class CardinalityCounter {
 public:
  void add(std::span<const Label> labels);
  // The `top` largest of each table, largest first, ties by name.
  CardinalityStats finish(size_t top) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  using Counts = std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>>;
  static uint64_t& slot(Counts& counts, std::string_view key);
  static std::vector<NamedCount> largest(const Counts& counts, size_t top);

  Counts metrics_, pairs_, values_, bytes_;
};

}  // namespace vagt::tsdb

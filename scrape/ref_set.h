// The series a scrape has already written, to tell repeats; open addressing, insert only.
#pragma once

#include <cstdint>
#include <vector>

#include "tsdb/store.h"

namespace vagt::scrape {

class RefSet {
 public:
  // False: it was there.
  bool insert(tsdb::SeriesRef ref) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    uint64_t& slot = find(static_cast<uint64_t>(ref));
    if (slot != 0) return false;
    slot = static_cast<uint64_t>(ref);
    ++used_;
    return true;
  }
  bool contains(tsdb::SeriesRef ref) {
    return !slots_.empty() && find(static_cast<uint64_t>(ref)) != 0;
  }

 private:
  uint64_t& find(uint64_t ref) {
    const size_t mask = slots_.size() - 1;
    size_t at = (ref * 0x9E3779B97F4A7C15ULL >> 20) & mask;
    while (slots_[at] != 0 && slots_[at] != ref) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    std::vector<uint64_t> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : old.size() * 2, 0);
    for (const uint64_t ref : old) {
      if (ref != 0) find(ref) = ref;
    }
  }
  std::vector<uint64_t> slots_;  // 0: free, as SeriesRef::None is no series
  size_t used_ = 0;
};

}  // namespace vagt::scrape

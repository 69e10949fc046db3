// Whether a late sample has its equal on disk already. Internal to tsdb.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include "tsdb/core.h"

namespace vagt::tsdb {

// One thread. What it has read is kept until clear(): late samples come in swarms of one series and
// day.
class DiskLookup {
 public:
  explicit DiskLookup(StoreCore& core) : core_(core) {}
  // The value of the series on disk at exactly `t`. What cannot be read counts as absent: the
  // reader of that chunk is told, and of two samples at one time it takes the earlier.
  std::optional<double> find(SeriesId id, int64_t t);
  void clear();

 private:
  struct SeriesDay {
    Day day = 0;
    RawColumns samples;
  };
  void load(SeriesId id, SeriesDay& out);

  StoreCore& core_;
  std::unique_ptr<Scan> scan_;
  std::unordered_map<SeriesId, SeriesDay> cache_;
  size_t cached_ = 0;  // samples
};

}  // namespace vagt::tsdb

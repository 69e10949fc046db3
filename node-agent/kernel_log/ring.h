// The last lines of the kernel log, for whoever fetches them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/time.h"

namespace vagt::agent {

// Any thread.
class KernelLogRing {
 public:
  static constexpr size_t kLines = 256;
  void add(uint64_t sequence, Timestamp at, int priority, std::string_view text)
      VAGT_EXCLUDES(mutex_);
  // Lines with a sequence number above `after`, oldest first, as
  // {"status":"success","data":{"next":N,"lines":[{"seq":…,"time":…,"priority":…,"message":…}]}};
  // the next question asks after N.
  std::string json_after(uint64_t after) const VAGT_EXCLUDES(mutex_);
  uint64_t last_sequence() const VAGT_EXCLUDES(mutex_);  // 0: no line yet

 private:
  struct Line {
    uint64_t sequence = 0;
    Timestamp at{};
    int priority = 6;
    std::string text;
  };
  mutable base::Mutex mutex_;
  std::deque<Line> lines_ VAGT_GUARDED_BY(mutex_);
};

}  // namespace vagt::agent

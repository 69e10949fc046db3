// Small state that outlives the agent: written beside and renamed, so that a crash leaves the old.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/log.h"
#include "base/status.h"

namespace vagt::agent {

// The text after the first line when that line is `boot_id`; "" when there is none or it is of
// another boot.
std::string load_boot_state(const std::string& path, const std::string& boot_id);
// Io: the directory is missing or full; what was there before stays.
Status save_state(const std::string& path, const std::string& text);
// The same, with `boot_id` as the first line.
Status save_boot_state(const std::string& path, const std::string& boot_id,
                       const std::string& text);

// Whether state can be kept: says so in the log when that changes. Any thread.
class StateHealth {
 public:
  // Tries the directory, before there is anything to keep.
  void check(const std::string& directory, const base::Logger& log);
  // Takes the outcome of one write.
  void note(const Status& written, const base::Logger& log);
  bool good() const { return good_; }
  uint64_t failures() const { return failures_; }

 private:
  std::atomic<bool> good_{true};
  std::atomic<uint64_t> failures_{0};
};

}  // namespace vagt::agent

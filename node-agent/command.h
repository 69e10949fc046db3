// Runs a helper program with a deadline.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"

namespace vagt::agent {

struct CommandOutput {
  int exit_code = 0;  // 128 + signal when one ended it
  std::string out;    // standard output and error together
  double cpu_seconds = 0;
};

// Held by a run until its program has ended, even one that nothing can kill: a source that is stuck
// is not asked a second time.
struct CommandSlot {
  std::atomic<bool> busy{false};
};

// `argv[0]` is looked up in PATH; the environment is LC_ALL=C, TZ=UTC and PATH alone. NotFound: no
// such program. Timeout: killed with all its children at the deadline. LimitExceeded: more than 16
// MiB came. Unavailable: the last program of this `slot` still hangs.
Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds deadline, std::stop_token stop,
                                  std::shared_ptr<CommandSlot> slot = nullptr);

}  // namespace vagt::agent

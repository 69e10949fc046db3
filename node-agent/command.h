// Runs a helper program with a deadline.
#pragma once

#include <chrono>
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

// `argv[0]` is looked up in PATH; the environment is LC_ALL=C, TZ=UTC and PATH alone. NotFound: no
// such program. Timeout: killed with all its children at the deadline. LimitExceeded: more than 16
// MiB came.
Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds deadline, std::stop_token stop);

}  // namespace vagt::agent

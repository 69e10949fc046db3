// Pages with their times, one after the other, for a host without a network: to be carried to a
// server on a stick.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

#include "node-agent/agent.h"

namespace vagt::agent {

// The page with `at` in milliseconds behind each sample, which servers import as
// /api/v1/import/prometheus has it; `heads`: with HELP and TYPE lines.
std::string with_times(std::string_view page, Timestamp at, bool heads);

// `vagt-agent snapshot`: writes one page, or one each options.snapshot_every for
// options.snapshot_for, to standard output, and the lines of the kernel log as comments. Ends early
// at one of `stop_signals`, which are blocked. Io: standard output is closed or full.
Status write_snapshots(Agent& agent, const Options& options, const sigset_t& stop_signals);

}  // namespace vagt::agent

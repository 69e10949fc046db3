// The command line of vagt-agent.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "node-agent/bmc/remote.h"
#include "node-agent/collectors/collectors.h"
#include "node-agent/sources.h"

namespace vagt::agent {

struct Options {
  bool collect_once = false;  // `vagt-agent collect`
  bool doctor = false;        // `vagt-agent doctor`
  bool mark_reboot = false, reboot = false;
  bool snapshot = false;                                               // `vagt-agent snapshot`
  Duration snapshot_every = std::chrono::seconds(15), snapshot_for{};  // for 0: one page
  std::map<std::string, BmcModule> bmc_modules;                        // of --ipmi.config
  std::string reboot_reason;
  Duration reboot_ttl = std::chrono::minutes(15);
  std::vector<std::string> listen = {":9500"};
  // More addresses that serve some collectors only, as the exporter does whose port it is.
  struct CompatListen {
    std::string address;
    std::vector<std::string> collectors;
  };
  std::vector<CompatListen> compat_listen;
  std::vector<std::string> collectors;  // those switched on, in the order of the list
  bool exporter_metrics = true;         // process_* and vagt_* about ourselves
  bool compat_build_info = true;        // node_exporter_build_info
  size_t max_samples_per_collector = 4000;
  Sources sources;
  Filters filters;
  base::LogLevel log_level = base::LogLevel::Info;
  base::LogFormat log_format = base::LogFormat::Logfmt;
};

// What to do instead of running: the text for standard output or error, and the exit status.
struct Exit {
  int code = 0;
  std::string out, err;
};

// Reads the command line. False: `exit` says why (--help, --version, a mistake).
bool parse_flags(int argc, const char* const* argv, Options& options, Exit& exit);

}  // namespace vagt::agent

// The tool's own configuration files: amtool's, and ours.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

// In this order, the first that says a thing wins: ~/.config/vagt/config.yml,
// ~/.config/amtool/config.yml,
// ~/.config/prometheus/amtool.yml (Debian), and the same under /etc/vagt, /etc/amtool,
// /etc/prometheus.
std::vector<std::string> tool_config_files(const std::string& home);

// Defaults for the flags; files that do not exist are passed over. Keys are the long flags' names.
Result<GlobalOptions> load_tool_config(const std::vector<std::string>& files);

}  // namespace vagt::cli

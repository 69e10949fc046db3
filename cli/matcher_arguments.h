// amtool's way with matchers and labels on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/matcher.h"
#include "base/status.h"

namespace vagt::cli {

// A first argument that is no matcher is the alert's name: `GpuHot` becomes `alertname=GpuHot`.
std::vector<std::string> with_alertname(std::vector<std::string> arguments);
// Each argument one matcher, in the classic grammar: these lines are typed into shells.
Result<std::vector<Matcher>> parse_matcher_arguments(const std::vector<std::string>& arguments);

}  // namespace vagt::cli

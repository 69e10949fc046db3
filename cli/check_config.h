// vagtctl check config: prometheus.yml and the files it names.
#pragma once

#include <string>
#include <vector>

#include "cli/check_rules.h"
#include "cli/context.h"

namespace vagt::cli {

struct CheckConfig {
  std::vector<std::string> files;
  bool syntax_only = false;  // opens no file that the configuration names
  bool agent = false;
  LintOptions lint;
  std::vector<std::string> features;
};
int check_config(Context& context, const CheckConfig& check);

}  // namespace vagt::cli

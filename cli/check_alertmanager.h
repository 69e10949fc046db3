// vagtctl check-config: alertmanager.yml, as amtool checks it.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct CheckAlertmanager {
  std::vector<std::string> files;  // empty: standard input
};
int check_alertmanager(Context& context, const CheckAlertmanager& check);

// "FILE:12:3: what" as "what", for outputs that scripts compare with the originals'.
std::string without_place(const std::string& message, const std::string& file);

}  // namespace vagt::cli

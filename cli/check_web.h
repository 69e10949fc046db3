// vagtctl check web-config: the files of --web.config.file.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct CheckWeb {
  std::vector<std::string> files;
};
// As promtool: a line for each file on standard error, 1 when one is bad. Certificates are opened.
int check_web(Context& context, const CheckWeb& check);

}  // namespace vagt::cli

// vagtctl config routes show | test
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct RoutesShow {
  std::string config_file;  // "" asks the server
};
int routes_show(Context& context, const RoutesShow& show);

struct RoutesTest {
  std::string config_file;
  std::vector<std::string> labels;  // name=value
  std::string expected_receivers;   // comma-separated; "" does not compare
  bool tree = false;
};
int routes_test(Context& context, const RoutesTest& test);

}  // namespace vagt::cli

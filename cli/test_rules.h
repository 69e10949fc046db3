// vagtctl test rules: unit tests of rules; test promql: scripts of PromQL; promql format.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct TestRules {
  std::vector<std::string> files;
  std::vector<std::string> run;  // regular expressions over the tests' names
  std::vector<std::string> features;
  std::string junit_file;
  bool ignore_unknown_fields = false, diff = false, debug = false;
};
int test_rules(Context& context, const TestRules& test);

struct TestPromql {
  std::vector<std::string> files;
};
int test_promql(Context& context, const TestPromql& test);

struct PromqlFormat {
  std::string expr;
  std::vector<std::string> features;
};
int promql_format(Context& context, const PromqlFormat& format);

}  // namespace vagt::cli

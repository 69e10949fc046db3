// Rule unit tests: promtool's test files, run at simulated time through the engine's own code.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "query/parse.h"
#include "tsdb/store.h"

namespace vagt::rules {

struct RuleTestOptions {
  std::vector<std::string> run;  // regular expressions over test names; empty: all tests
  bool ignore_unknown_fields = false;
  bool diff = false;   // differences instead of expected and got
  bool debug = false;  // fills RuleTestResult::debug
  query::ParseOptions parse;
  // A fresh empty store that takes samples of any age (tsdb::MemoryStore); one per test.
  std::function<std::unique_ptr<tsdb::Store>()> make_store;
};

struct RuleTestCase {
  std::string name;
  std::vector<std::string> failures;  // promtool's texts
};

struct RuleTestResult {
  std::string path;
  std::vector<std::string> errors;  // of the file itself
  std::vector<RuleTestCase> tests;  // those that ran
  std::vector<std::string> debug;   // lines for --debug
  bool ok() const;
};

RuleTestResult run_rule_test_file(const std::string& path, const RuleTestOptions& options);

// What `test rules` prints for one file: "Unit Testing:  PATH", then SUCCESS or FAILED with the
// texts.
std::string print_rule_test(const RuleTestResult& result);
// JUnit's XML over all files.
std::string junit_report(const std::vector<RuleTestResult>& results);

}  // namespace vagt::rules

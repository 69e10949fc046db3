#include "cli/test_rules.h"

#include <filesystem>
#include <fstream>
#include <ostream>

#include "cli/check_rules.h"
#include "query/parse.h"
#include "query/script/script.h"
#include "rules/rule_test.h"
#include "tsdb/memory_store.h"

namespace vagt::cli {
namespace {

std::unique_ptr<tsdb::Store> empty_store() { return std::make_unique<tsdb::MemoryStore>(); }

rules::RuleTestOptions test_options(const TestRules& test) {
  rules::RuleTestOptions options;
  options.run = test.run;
  options.ignore_unknown_fields = test.ignore_unknown_fields;
  options.diff = test.diff;
  options.debug = test.debug;
  options.parse = parse_options(test.features);
  options.make_store = empty_store;
  return options;
}

// The first line goes to standard output; what failed to standard error, as promtool has it.
void print(Context& context, const rules::RuleTestResult& result) {
  for (const std::string& line : result.debug) context.out << line << "\n";
  const std::string text = rules::print_rule_test(result);
  if (result.ok()) {
    context.out << text;
    return;
  }
  const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
  context.out << text.substr(0, end) << std::flush;
  context.err << text.substr(end) << std::flush;
}

}  // namespace

int test_rules(Context& context, const TestRules& test) {
  for (const std::string& file : test.files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      return context.fail("path '" + file + "' does not exist");
    }
  }
  const rules::RuleTestOptions options = test_options(test);
  std::vector<rules::RuleTestResult> results;
  bool is_good = true;
  for (const std::string& file : test.files) {
    results.push_back(rules::run_rule_test_file(file, options));
    print(context, results.back());
    is_good = is_good && results.back().ok();
  }
  if (!test.junit_file.empty()) {
    std::ofstream file(test.junit_file);
    file << rules::junit_report(results);
    if (!file.flush()) return context.fail("cannot write " + test.junit_file);
  }
  return is_good ? kSuccess : kFailure;
}

int test_promql(Context& context, const TestPromql& test) {
  std::string report;
  const int status = query::script::test_promql(test.files, empty_store, report);
  context.out << report;
  return status;
}

int promql_format(Context& context, const PromqlFormat& format) {
  const auto expr = query::parse_expr(format.expr, parse_options(format.features));
  if (!expr) return context.fail(expr.error());
  context.out << query::format_expr(**expr) << "\n";
  return kSuccess;
}

}  // namespace vagt::cli

// A rule unit test file as structs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/status.h"
#include "base/time.h"
#include "rules/rule.h"

namespace vagt::rules {

// The values of one input series, one per interval; nullopt: nothing is stored.
using SeriesValues = std::vector<std::optional<double>>;

struct TestSeries {
  Labels labels;
  SeriesValues values;
};
struct ExpectedAlert {
  TextMap labels, annotations;
};
struct AlertTest {
  Duration eval_time{};
  std::string alertname;
  std::vector<ExpectedAlert> expected;
};
struct ExpectedSample {
  std::string labels;
  double value = 0;
  std::string histogram;
};
struct ExprTest {
  std::string expr;
  Duration eval_time{};
  std::vector<ExpectedSample> expected;
};
struct TestGroup {
  std::string name;
  Duration interval{};
  Timestamp start{};
  std::vector<std::pair<std::string, std::string>> input;  // series, values
  std::vector<AlertTest> alert_tests;
  std::vector<ExprTest> expr_tests;
  TextMap external_labels;
  std::string external_url;
};
struct TestFile {
  std::vector<std::string> rule_files;  // resolved and globbed
  Duration evaluation_interval = std::chrono::minutes(1);
  std::vector<std::string> group_eval_order;
  bool fuzzy_compare = false;
  std::vector<TestGroup> tests;
};

Result<TestFile> load_test_file(const std::string& path, bool ignore_unknown_fields);

// "up{job=\"a\"}" to labels. InvalidArgument: "1:COLUMN: parse error: …".
Result<Labels> parse_series(std::string_view text);
// "0+1x5 _ stale": promtool's expanding notation. InvalidArgument; native histograms are refused by
// name.
Result<SeriesValues> parse_values(std::string_view text);

}  // namespace vagt::rules

#include "rules/test_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/number_text.h"
#include "rules/rule_test.h"
#include "template/escape_text.h"

namespace vagt::rules {
namespace {

// Every line but the first is pushed in.
std::string indent(const std::string& text, std::string_view by) {
  std::string out;
  for (const char c : text) {
    out.push_back(c);
    if (c == '\n') out += by;
  }
  return out;
}

std::string describe(const LabelsAndAnnotations& alert) {
  return "Labels:" + alert.labels.to_string() + "\nAnnotations:" + alert.annotations.to_string();
}

std::string describe(const std::vector<LabelsAndAnnotations>& alerts) {
  if (alerts.empty()) return "[]";
  std::string out = "[\n";
  for (size_t i = 0; i < alerts.size(); ++i) {
    out += fmt::format("{}{}:{}", i == 0 ? "" : ",\n", i, indent("\n" + describe(alerts[i]), "  "));
  }
  return out + "\n]";
}

// Go's FormatFloat(v, 'E', -1, 64): "1E+00".
std::string exponent_text(double v) {
  if (!std::isfinite(v)) return format_float(v);
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  std::string out(buffer, end);
  std::replace(out.begin(), out.end(), 'e', 'E');
  return out;
}

// Go prints the metric name as one label among the others.
std::string label_text(const Labels& labels) {
  std::string out;
  for (const Label& label : labels.items()) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", label.name, quote(label.value));
  }
  return "{" + out + "}";
}

std::string describe(const std::vector<TestSample>& samples) {
  if (samples.empty()) return "nil";
  std::string out;
  for (const TestSample& sample : samples) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", label_text(sample.labels),
                       exponent_text(sample.value));
  }
  return out;
}

std::string name_line(const std::string& test) {
  return test.empty() ? "" : fmt::format("    name: {},\n", test);
}

// Lines only one side has; both sides are sorted lists of texts.
std::string differences(const std::vector<std::string>& expected,
                        const std::vector<std::string>& got) {
  std::string out;
  const auto only = [&](const std::vector<std::string>& a, const std::vector<std::string>& b,
                        char mark) {
    for (const std::string& text : a) {
      if (std::find(b.begin(), b.end(), text) != b.end()) continue;
      out +=
          fmt::format("\n          {} {}", mark, indent(text, fmt::format("          {} ", mark)));
    }
  };
  only(expected, got, '-');
  only(got, expected, '+');
  return out;
}

// XML has no way to write most control characters: they are left out.
std::string escape_xml(std::string_view text) {
  std::string printable;
  std::copy_if(text.begin(), text.end(), std::back_inserter(printable), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t';
  });
  return tmpl::escape_html(printable);
}

}  // namespace

std::string alert_failure(const std::string& test, const std::string& alert, Duration at,
                          const std::vector<LabelsAndAnnotations>& expected,
                          const std::vector<LabelsAndAnnotations>& got, bool diff) {
  const std::string head =
      fmt::format("{}    alertname: {}, time: {}, ", name_line(test), alert, format_duration(at));
  if (diff) {
    std::vector<std::string> a, b;
    for (const auto& item : expected) a.push_back(describe(item));
    for (const auto& item : got) b.push_back(describe(item));
    return head + "\n        diff:" + differences(a, b);
  }
  return fmt::format("{}\n        exp:{}, \n        got:{}", head,
                     indent(describe(expected), "            "),
                     indent(describe(got), "            "));
}

std::string expr_failure(const std::string& test, const std::string& expr, Duration at,
                         const std::vector<TestSample>& expected,
                         const std::vector<TestSample>& got, bool diff) {
  const std::string head =
      fmt::format("{}    expr: {}, time: {},", name_line(test), quote(expr), format_duration(at));
  if (diff) {
    std::vector<std::string> a, b;
    for (const auto& item : expected) a.push_back(describe(std::vector<TestSample>{item}));
    for (const auto& item : got) b.push_back(describe(std::vector<TestSample>{item}));
    return head + "\n        diff:" + differences(a, b);
  }
  return fmt::format("{}\n        exp: {}\n        got: {}", head, describe(expected),
                     describe(got));
}

std::string print_rule_test(const RuleTestResult& result) {
  std::string out = "Unit Testing:  " + result.path + "\n";
  for (const std::string& line : result.debug) out += line + "\n";
  if (result.ok()) return out + "  SUCCESS\n\n";
  out += "  FAILED:\n";
  for (const std::string& error : result.errors) out += error + "\n\n";
  for (const RuleTestCase& test : result.tests) {
    for (const std::string& failure : test.failures) out += failure + "\n\n";
  }
  return out;
}

std::string junit_report(const std::vector<RuleTestResult>& results) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const RuleTestResult& result : results) {
    size_t failed = 0;
    for (const RuleTestCase& test : result.tests) failed += test.failures.empty() ? 0 : 1;
    out += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
                       escape_xml(result.path), result.tests.size(), failed, result.errors.size());
    for (const std::string& error : result.errors) {
      out += fmt::format("    <testcase name=\"\"><error message=\"{}\"></error></testcase>\n",
                         escape_xml(error));
    }
    for (const RuleTestCase& test : result.tests) {
      out += fmt::format("    <testcase name=\"{}\">", escape_xml(test.name));
      for (const std::string& failure : test.failures) {
        out += fmt::format("<failure message=\"{}\"></failure>", escape_xml(failure));
      }
      out += "</testcase>\n";
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace vagt::rules

#include "cli/metric_lint.h"

#include <algorithm>
#include <array>
#include <utility>

namespace vagt::cli {
namespace {

using exposition::MetricType;

constexpr std::array<std::pair<const char*, const char*>, 25> kBaseUnits = {{
    {"milliseconds", "seconds"}, {"microseconds", "seconds"}, {"nanoseconds", "seconds"},
    {"minutes", "seconds"},      {"hours", "seconds"},        {"days", "seconds"},
    {"weeks", "seconds"},        {"kelvins", "celsius"},      {"fahrenheit", "celsius"},
    {"rankine", "celsius"},      {"kilometers", "meters"},    {"millimeters", "meters"},
    {"centimeters", "meters"},   {"inches", "meters"},        {"yards", "meters"},
    {"miles", "meters"},         {"bits", "bytes"},           {"kilobytes", "bytes"},
    {"megabytes", "bytes"},      {"gigabytes", "bytes"},      {"terabytes", "bytes"},
    {"calories", "joules"},      {"kilojoules", "joules"},    {"kilograms", "grams"},
    {"milligrams", "grams"},
}};
constexpr std::array kAbbreviations = {"s",  "ms", "us", "ns", "sec", "b", "kb",
                                       "mb", "gb", "tb", "pb", "m",   "h", "d"};

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words;
  size_t at = 0;
  while (at <= name.size()) {
    const size_t end = std::min(name.find('_', at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool is_camel_case(const std::string& text) {
  for (size_t i = 1; i < text.size(); ++i) {
    const bool before = text[i - 1] >= 'a' && text[i - 1] <= 'z';
    if (before && text[i] >= 'A' && text[i] <= 'Z') return true;
  }
  return false;
}

void lint_type(const MetricFamily& family, std::vector<std::string>& out) {
  const bool is_total = family.name.ends_with("_total");
  const bool is_counter = family.type == MetricType::Counter;
  if (is_counter && !is_total) out.emplace_back("counter metrics should have \"_total\" suffix");
  if (!is_counter && family.type != MetricType::Unknown && is_total) {
    out.emplace_back("non-counter metrics should not have \"_total\" suffix");
  }
  const bool is_histogram = family.type == MetricType::Histogram;
  const bool is_summary = family.type == MetricType::Summary;
  if (family.type == MetricType::Unknown) return;
  if (!is_histogram && family.name.ends_with("_bucket")) {
    out.emplace_back("non-histogram metrics should not have \"_bucket\" suffix");
  }
  if (!is_histogram && family.label_names.contains("le")) {
    out.emplace_back("non-histogram metrics should not have \"le\" label");
  }
  if (!is_histogram && !is_summary && family.name.ends_with("_count")) {
    out.emplace_back("non-histogram and non-summary metrics should not have \"_count\" suffix");
  }
  if (!is_histogram && !is_summary && family.name.ends_with("_sum")) {
    out.emplace_back("non-histogram and non-summary metrics should not have \"_sum\" suffix");
  }
  if (!is_summary && family.label_names.contains("quantile")) {
    out.emplace_back("non-summary metrics should not have \"quantile\" label");
  }
}

void lint_words(const MetricFamily& family, std::vector<std::string>& out) {
  const auto words = words_of(family.name);
  for (const auto& [unit, base] : kBaseUnits) {
    if (std::find(words.begin(), words.end(), unit) == words.end()) continue;
    out.push_back(std::string("use base unit \"") + base + "\" instead of \"" + unit + "\"");
    break;
  }
  for (const char* type : {"counter", "gauge", "histogram", "summary"}) {
    const bool is_there = family.type != MetricType::Unknown &&
                          exposition::metric_type_name(family.type) == type &&
                          std::find(words.begin(), words.end(), type) != words.end();
    if (is_there) out.push_back(std::string("metric name should not include type '") + type + "'");
  }
  for (const std::string& word : words) {
    const bool is_short =
        std::find(kAbbreviations.begin(), kAbbreviations.end(), word) != kAbbreviations.end();
    if (!is_short) continue;
    out.emplace_back("metric names should not contain abbreviated units");
    break;
  }
}

}  // namespace

std::vector<std::string> lint_family(const MetricFamily& family) {
  std::vector<std::string> out;
  if (family.help.empty()) out.emplace_back("no help text");
  lint_type(family, out);
  lint_words(family, out);
  if (family.name.find(':') != std::string::npos) {
    out.emplace_back("metric names should not contain ':'");
  }
  if (is_camel_case(family.name)) {
    out.emplace_back("metric names should be written in 'snake_case' not 'camelCase'");
  }
  const bool has_camel_label =
      std::any_of(family.label_names.begin(), family.label_names.end(), is_camel_case);
  if (has_camel_label)
    out.emplace_back("label names should be written in 'snake_case' not 'camelCase'");
  return out;
}

}  // namespace vagt::cli

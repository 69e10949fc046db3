#include "cli/query_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <vector>

#include "base/number_text.h"
#include "cli/json_text.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;

Status misshapen(const std::string& what) {
  return {Code::Unavailable, "the answer is not that of a query API: " + what};
}

// Go's %q for what label values usually hold.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out + '"';
}

// model.Metric's String: name{a="b", c="d"}
Result<std::string> metric_text(const json::value& metric) {
  const auto* labels = metric.if_object();
  if (labels == nullptr) return misshapen("a metric is no object: " + json_text(metric));
  std::vector<std::string> pairs;
  std::string name;
  for (const auto& label : *labels) {
    if (!label.value().is_string()) {
      return misshapen(fmt::format("label \"{}\" is no string", std::string(label.key())));
    }
    const std::string_view value = label.value().as_string();
    if (label.key() == "__name__")
      name = value;
    else
      pairs.push_back(std::string(label.key()) + "=" + quoted(value));
  }
  std::sort(pairs.begin(), pairs.end());
  if (pairs.empty()) return name.empty() ? "{}" : name;
  std::string out = name + "{";
  for (size_t i = 0; i < pairs.size(); ++i) out += (i == 0 ? "" : ", ") + pairs[i];
  return out + "}";
}

Result<std::string> metric_of(const json::object& item) {
  const auto* metric = item.if_contains("metric");
  if (metric == nullptr) return misshapen("a series has no \"metric\"");
  return metric_text(*metric);
}

// [1435781430.781, "1"] as "1 @[1435781430.781]"; a native histogram's second member as its JSON.
Result<std::string> point_text(const json::value& point) {
  const auto* pair = point.if_array();
  if (pair == nullptr || pair->size() != 2 || !pair->at(0).is_number())
    return misshapen("a sample is no pair of time and value: " + json_text(point));
  const json::value& value = pair->at(1);
  std::string text = json_text(value);
  if (const auto* number = value.if_string()) {
    const auto parsed = parse_float(std::string_view(*number));
    if (!parsed) return misshapen("the value " + text + " is no number");
    text = format_float(*parsed);
  } else if (!value.is_object()) {
    return misshapen("the value " + text + " is no string");
  }
  return text + " @[" + format_float(pair->at(0).to_number<double>()) + "]";
}

Result<std::string> vector_row(const json::object& item) {
  VAGT_TRY(const std::string metric, metric_of(item));
  const auto* value = item.if_contains("value");
  if (value == nullptr) value = item.if_contains("histogram");
  if (value == nullptr) return misshapen(metric + " has no \"value\"");
  VAGT_TRY(const std::string point, point_text(*value));
  return metric + " => " + point;
}

Result<std::string> matrix_row(const json::object& item) {
  VAGT_TRY(const std::string metric, metric_of(item));
  std::string points;
  bool has_any = false;
  for (const char* key : {"values", "histograms"}) {
    const auto* samples = item.if_contains(key);
    if (samples == nullptr) continue;
    if (!samples->is_array()) return misshapen(fmt::format("\"{}\" is no array", key));
    has_any = true;
    for (const auto& sample : samples->as_array()) {
      VAGT_TRY(const std::string point, point_text(sample));
      points += (points.empty() ? "" : "\n") + point;
    }
  }
  if (!has_any) return misshapen(metric + " has no \"values\"");
  return metric + " =>\n" + points;
}

Result<std::string> rows_text(const json::array& rows,
                              Result<std::string> (*row_text)(const json::object&)) {
  std::string out;
  for (const auto& row : rows) {
    const auto* item = row.if_object();
    if (item == nullptr) return misshapen("a series is no object: " + json_text(row));
    VAGT_TRY(const std::string text, row_text(*item));
    out += (out.empty() ? "" : "\n") + text;
  }
  return out;
}

}  // namespace

Result<std::string> answer_text(const json::value& data) {
  const auto* object = data.if_object();
  const auto* result = object != nullptr ? object->if_contains("result") : nullptr;
  const auto* type = object != nullptr ? object->if_contains("resultType") : nullptr;
  if (result == nullptr || type == nullptr || !result->is_array() || !type->is_string())
    return misshapen("no \"resultType\" and \"result\"");
  const json::array& array = result->as_array();
  if (type->as_string() == "vector") return rows_text(array, vector_row);
  if (type->as_string() == "matrix") return rows_text(array, matrix_row);
  if (type->as_string() == "scalar") {
    VAGT_TRY(const std::string point, point_text(*result));
    return "scalar: " + point;
  }
  if (array.size() == 2 && array[1].is_string()) return std::string(array[1].as_string());
  return misshapen("resultType " + json_text(*type));
}

Result<std::string> series_text(const json::value& data) {
  const auto* rows = data.if_array();
  if (rows == nullptr) return misshapen("no array of series");
  std::string out;
  for (const auto& row : *rows) {
    VAGT_TRY(const std::string metric, metric_text(row));
    out += metric + "\n";
  }
  return out;
}

Result<std::string> values_text(const json::value& data) {
  const auto* rows = data.if_array();
  if (rows == nullptr) return misshapen("no array of label values");
  std::string out;
  for (const auto& row : *rows) {
    const auto* value = row.if_string();
    if (value == nullptr) return misshapen("a label value is no string: " + json_text(row));
    out += std::string_view(*value);
    out += '\n';
  }
  return out;
}

}  // namespace vagt::cli

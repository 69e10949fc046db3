// The functions of Prometheus's alert templates. `query`, `externalURL`, `pathPrefix` and `now`
// need a caller: it adds them.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/labels.h"
#include "template/arguments.h"
#include "template/escape_text.h"
#include "template/functions_common.h"
#include "template/humanize.h"
#include "template/unicode.h"

namespace vagt::tmpl {
namespace {

using Answer = Result<TemplateValue>;

template <class F>
Function number_function(std::string name, F change) {
  return [name = std::move(name), change](Args args) -> Answer {
    VAGT_CHECK_OK(want(name, 1, args));
    VAGT_TRY(const double v, number_arg(args[0]));
    return change(v);
  };
}

Answer humanize_timestamp(double v) {
  if (!std::isfinite(v)) return TemplateValue(sprintf_go("%.4g", std::array<TemplateValue, 1>{v}));
  VAGT_TRY(const GoTime t, float_to_time(v));
  return TemplateValue(t.to_string());
}

Answer to_time(double v) {
  VAGT_TRY(GoTime t, float_to_time(v));
  return make_time(std::move(t));
}

Answer to_duration(double v) {
  const double nanos = v * 1e9;
  if (std::isnan(v) || std::isinf(v)) return Status::invalid("value is NaN or Inf");
  if (nanos > 9223372036854775807.0 || nanos < -9223372036854775808.0) {
    return Status::invalid(format_go_float(v) +
                           " cannot be represented as a time.Duration since it overflows int64");
  }
  return TemplateValue(std::chrono::nanoseconds(static_cast<int64_t>(nanos)));
}

// -- query results
// -----------------------------------------------------------------------------------------------------

Answer first_of(Args args) {
  VAGT_CHECK_OK(want("first", 1, args));
  const ValueList* list = list_of(args[0]);
  if (list == nullptr) return wrong_type("template.queryResult", args[0]);
  if (list->empty()) return Status::invalid("first() called on vector with no elements");
  return list->front();
}

Answer sample_field(const TemplateValue& sample, std::string_view field) {
  const auto* object = get_if<std::shared_ptr<const TemplateObject>>(sample);
  auto value = object == nullptr ? nullptr : (*object)->field(field);
  if (value == nullptr) return wrong_type("*template.sample", sample);
  return std::move(*value);
}

std::string label_of(const TemplateValue& labels, const std::string& name) {
  const ValueMap* map = map_of(labels);
  if (map == nullptr) return "";
  const auto found = map->find(name);
  return found == map->end() ? "" : print_value(found->second);
}

Answer label_function(Args args) {
  VAGT_CHECK_OK(want("label", 2, args));
  VAGT_TRY(const std::string name, text_arg(args, 0));
  VAGT_TRY(const TemplateValue labels, sample_field(args[1], "Labels"));
  return TemplateValue(label_of(labels, name));
}

Answer value_function(Args args) {
  VAGT_CHECK_OK(want("value", 1, args));
  return sample_field(args[0], "Value");
}

Answer strvalue_function(Args args) {
  VAGT_CHECK_OK(want("strvalue", 1, args));
  VAGT_TRY(const TemplateValue labels, sample_field(args[0], "Labels"));
  return TemplateValue(label_of(labels, "__value__"));
}

Answer sort_by_label(Args args) {
  VAGT_CHECK_OK(want("sortByLabel", 2, args));
  VAGT_TRY(const std::string name, text_arg(args, 0));
  const ValueList* list = list_of(args[1]);
  if (list == nullptr) return wrong_type("template.queryResult", args[1]);
  std::vector<std::pair<std::string, TemplateValue>> keyed;
  for (const TemplateValue& sample : *list) {
    VAGT_TRY(const TemplateValue labels, sample_field(sample, "Labels"));
    keyed.emplace_back(label_of(labels, name), sample);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  ValueList sorted;
  for (auto& [key, sample] : keyed) sorted.push_back(std::move(sample));
  return TemplateValue(std::move(sorted));
}

// -- texts, links
// ------------------------------------------------------------------------------------------------------

Function link_function(std::string name, int tab) {
  return text_function(std::move(name), [tab](const std::string& expr) {
    return fmt::format("/graph?g0.expr={}&g0.tab={}", escape_query(expr), tab);
  });
}

// "host:port" or "[v6]:port" without the port; anything else as it is.
std::string strip_port(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return text;
  const bool bracketed = text.starts_with('[');
  if (bracketed) {
    const size_t close = text.find(']');
    if (close == std::string::npos || close + 1 != colon) return text;
    return text.substr(1, close - 1);
  }
  return text.find(':') == colon ? text.substr(0, colon) : text;
}

bool is_ip(const std::string& host) {
  if (host.find(':') != std::string::npos) return true;
  int dots = 0;
  for (const char c : host) {
    if (c == '.')
      ++dots;
    else if (c < '0' || c > '9')
      return false;
  }
  return dots == 3;
}

std::string strip_domain(const std::string& text) {
  const std::string host = strip_port(text);
  if (is_ip(host)) return text;
  const std::string port = host.size() < text.size() ? text.substr(text.rfind(':')) : "";
  return host.substr(0, host.find('.')) + port;
}

Answer args_function(Args args) {
  ValueMap map;
  for (size_t i = 0; i < args.size(); ++i) map[fmt::format("arg{}", i)] = args[i];
  return make_any_map(std::move(map));
}

Answer parse_duration_function(Args args) {
  VAGT_CHECK_OK(want("parseDuration", 1, args));
  VAGT_TRY(std::string text, text_arg(args, 0));
  const bool negative = text.starts_with('-');
  if (negative) text.erase(0, 1);
  if (text.empty()) return Status::invalid("empty duration string");
  VAGT_TRY(const Duration d, parse_duration(text));
  return TemplateValue(negative ? -to_seconds(d) : to_seconds(d));
}

}  // namespace

FunctionTable prometheus_functions() {
  FunctionTable table;
  add_common_functions(table);
  table["title"] =
      text_function("title", [](const std::string& text) { return title_words(text); });
  table["humanize"] =
      number_function("humanize", [](double v) -> Answer { return TemplateValue(humanize(v)); });
  table["humanize1024"] = number_function(
      "humanize1024", [](double v) -> Answer { return TemplateValue(humanize1024(v)); });
  table["humanizePercentage"] = number_function("humanizePercentage", [](double v) -> Answer {
    return TemplateValue(humanize_percentage(v));
  });
  table["humanizeTimestamp"] = number_function("humanizeTimestamp", humanize_timestamp);
  table["toTime"] = number_function("toTime", to_time);
  table["toDuration"] = number_function("toDuration", to_duration);
  table["first"] = first_of;
  table["label"] = label_function;
  table["value"] = value_function;
  table["strvalue"] = strvalue_function;
  table["sortByLabel"] = sort_by_label;
  table["graphLink"] = link_function("graphLink", 0);
  table["tableLink"] = link_function("tableLink", 1);
  table["stripPort"] = text_function("stripPort", strip_port);
  table["stripDomain"] = text_function("stripDomain", strip_domain);
  table["urlQueryEscape"] =
      text_function("urlQueryEscape", [](const std::string& text) { return escape_query(text); });
  table["args"] = args_function;
  table["parseDuration"] = parse_duration_function;
  return table;
}

}  // namespace vagt::tmpl

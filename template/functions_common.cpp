#include "template/functions_common.h"

#include <fmt/core.h>

#include "base/number_text.h"
#include "base/regex.h"
#include "template/arguments.h"
#include "template/humanize.h"
#include "template/unicode.h"

namespace vagt::tmpl {
namespace {

Result<TemplateValue> match_text(Args args) {
  VAGT_CHECK_OK(want("match", 2, args));
  VAGT_TRY(const std::string pattern, text_arg(args, 0));
  VAGT_TRY(const std::string text, text_arg(args, 1));
  VAGT_TRY(const Regex regex,
           Regex::compile(pattern, Regex::Anchor::None).at("error parsing regexp"));
  return TemplateValue(regex.find(text, 0).has_value());
}

Result<TemplateValue> replace_all(Args args) {
  VAGT_CHECK_OK(want("reReplaceAll", 3, args));
  VAGT_TRY(const std::string pattern, text_arg(args, 0));
  VAGT_TRY(const std::string replacement, text_arg(args, 1));
  VAGT_TRY(const std::string text, text_arg(args, 2));
  VAGT_TRY(const Regex regex,
           Regex::compile(pattern, Regex::Anchor::None).at("error parsing regexp"));
  return TemplateValue(regex.replace_all(text, replacement));
}

Result<TemplateValue> humanize_duration_of(Args args) {
  VAGT_CHECK_OK(want("humanizeDuration", 1, args));
  VAGT_TRY(const double v, number_arg(args[0]));
  return TemplateValue(humanize_duration(v));
}

}  // namespace

Result<double> number_arg(const TemplateValue& value) {
  if (const auto* d = get_if<double>(value)) return *d;
  if (const auto* i = get_if<int64_t>(value)) return static_cast<double>(*i);
  if (const auto* d = get_if<std::chrono::nanoseconds>(value)) {
    return std::chrono::duration<double>(*d).count();
  }
  if (const std::string* text = as_text(value)) {
    const auto number = parse_float(*text);
    if (number) return *number;
    return Status::invalid(
        fmt::format("strconv.ParseFloat: parsing {}: invalid syntax", quote(*text)));
  }
  return Status::invalid("can't convert " + type_name(value) + " to float");
}

void add_common_functions(FunctionTable& table) {
  table["toUpper"] =
      text_function("toUpper", [](const std::string& text) { return to_upper(text); });
  table["toLower"] =
      text_function("toLower", [](const std::string& text) { return to_lower(text); });
  table["safeHtml"] = text_function(
      "safeHtml", [](const std::string& text) { return make_safe(SafeKind::Html, text); });
  table["match"] = match_text;
  table["reReplaceAll"] = replace_all;
  table["humanizeDuration"] = humanize_duration_of;
}

}  // namespace vagt::tmpl

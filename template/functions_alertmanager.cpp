// The functions of Alertmanager's notification templates.
#include <fmt/core.h>

#include "base/labels.h"
#include "template/arguments.h"
#include "template/base64_text.h"
#include "template/functions_common.h"
#include "template/go_time.h"
#include "template/json_value.h"
#include "template/unicode.h"

namespace vagt::tmpl {
namespace {

using Answer = Result<TemplateValue>;

Answer join_function(Args args) {
  VAGT_CHECK_OK(want("join", 2, args));
  VAGT_TRY(const std::string separator, text_arg(args, 0));
  const ValueList* list = list_of(args[1]);
  if (list == nullptr) return wrong_type("[]string", args[1]);
  std::string out;
  for (size_t i = 0; i < list->size(); ++i) {
    if (i > 0) out += separator;
    append_value(out, (*list)[i]);
  }
  return TemplateValue(std::move(out));
}

Answer string_slice(Args args) {
  ValueList list;
  for (const TemplateValue& value : args) {
    if (as_text(value) == nullptr) return wrong_type("string", value);
    list.push_back(value);
  }
  return TemplateValue(std::move(list));
}

// -- times
// -------------------------------------------------------------------------------------------------------------

Answer date_function(Args args) {
  VAGT_CHECK_OK(want("date", 2, args));
  VAGT_TRY(const std::string layout, text_arg(args, 0));
  const auto t = time_of(args[1]);
  if (!t) return wrong_type("time.Time", args[1]);
  return TemplateValue(t->format(layout));
}

Answer tz_function(Args args) {
  VAGT_CHECK_OK(want("tz", 2, args));
  VAGT_TRY(const std::string zone, text_arg(args, 0));
  const auto t = time_of(args[1]);
  if (!t) return wrong_type("time.Time", args[1]);
  VAGT_TRY(GoTime moved, in_zone(*t, zone));
  return make_time(std::move(moved));
}

Answer since_function(Args args, Timestamp now) {
  VAGT_CHECK_OK(want("since", 1, args));
  const auto t = time_of(args[0]);
  if (!t) return wrong_type("time.Time", args[0]);
  const TemplateValue start = make_time(*t);
  return call_time(GoTime::from(now), "Sub", {&start, 1});
}

// strict: a text that is no such date is an error, not the zero time.
Answer to_date(std::string_view name, Args args, bool strict) {
  VAGT_CHECK_OK(want(name, 2, args));
  VAGT_TRY(const std::string layout, text_arg(args, 0));
  VAGT_TRY(const std::string text, text_arg(args, 1));
  Result<GoTime> t = parse_go_time(layout, text);
  if (!t && strict) return std::move(t).error();
  return make_time(t ? std::move(*t) : GoTime::zero());
}

// -- lists and maps
// ----------------------------------------------------------------------------------------------------

Answer list_function(Args args) { return TemplateValue(ValueList(args.begin(), args.end())); }

Answer append_function(Args args) {
  if (args.empty()) return wrong_count("append", "at least 1", 0);
  const ValueList* list = list_of(args[0]);
  if (list == nullptr) return wrong_type("[]interface {}", args[0]);
  ValueList out(*list);
  out.insert(out.end(), args.begin() + 1, args.end());
  return TemplateValue(std::move(out));
}

Answer dict_function(Args args) {
  if (args.size() % 2 != 0) return Status::invalid("dict requires an even number of arguments");
  ValueMap map;
  for (size_t i = 0; i < args.size(); i += 2) {
    const std::string* key = as_text(args[i]);
    if (key == nullptr)
      return Status::invalid("dict keys must be strings, got " + type_name(args[i]));
    map[*key] = args[i + 1];
  }
  return make_any_map(std::move(map));
}

// -- texts
// -------------------------------------------------------------------------------------------------------------

Answer to_json_function(Args args) {
  VAGT_CHECK_OK(want("toJson", 1, args));
  VAGT_TRY(std::string json, to_json(args[0]));
  return TemplateValue(std::move(json));
}

Answer url_unescape(Args args) {
  VAGT_CHECK_OK(want("urlUnescape", 1, args));
  VAGT_TRY(const std::string text, text_arg(args, 0));
  VAGT_TRY(std::string plain, unescape_query(text));
  return TemplateValue(std::move(plain));
}

Answer base64_decode_function(Args args) {
  VAGT_CHECK_OK(want("base64decode", 1, args));
  VAGT_TRY(const std::string text, text_arg(args, 0));
  VAGT_TRY(std::string plain, decode_base64_url(text));
  return TemplateValue(std::move(plain));
}

}  // namespace

FunctionTable alertmanager_functions(std::function<Timestamp()> now) {
  FunctionTable table;
  add_common_functions(table);
  table["title"] =
      text_function("title", [](const std::string& text) { return title_words_lowering(text); });
  table["trimSpace"] =
      text_function("trimSpace", [](const std::string& text) { return trim_space(text); });
  table["safeUrl"] = text_function(
      "safeUrl", [](const std::string& text) { return make_safe(SafeKind::Url, text); });
  table["base64encode"] = text_function(
      "base64encode", [](const std::string& text) { return encode_base64_url(text); });
  table["base64decode"] = base64_decode_function;
  table["urlUnescape"] = url_unescape;
  table["join"] = join_function;
  table["stringSlice"] = string_slice;
  table["date"] = date_function;
  table["tz"] = tz_function;
  table["toDate"] = [](Args args) { return to_date("toDate", args, false); };
  table["mustToDate"] = [](Args args) { return to_date("mustToDate", args, true); };
  table["since"] = [now](Args args) { return since_function(args, now()); };
  table["now"] = [now](Args args) -> Answer {
    VAGT_CHECK_OK(want("now", 0, args));
    return make_time(GoTime::from(now()));
  };
  table["toJson"] = to_json_function;
  table["list"] = list_function;
  table["append"] = append_function;
  table["dict"] = dict_function;
  table["routeLabels"] =
      text_function("routeLabels", [](const std::string&) { return std::string(); });
  return table;
}

FunctionTable alertmanager_functions() {
  return alertmanager_functions(
      [] { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); });
}

}  // namespace vagt::tmpl

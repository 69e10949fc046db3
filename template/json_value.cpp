#include "template/json_value.h"

#include <cmath>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "template/go_time.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

constexpr int kMaxDepth = 100;

// Go's encoder also escapes what has a meaning in HTML and what ends a line in a script.
void append_text(std::string& out, std::string_view text) {
  std::string json;
  base::append_json_string(json, text);
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const std::string_view rest = std::string_view(json).substr(i);
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
      out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out.push_back(c);
    }
  }
}

Status append(std::string& out, const TemplateValue& value, int depth) {
  if (depth > kMaxDepth) return Status::invalid("json: nested too deeply");
  if (value.is_nil()) return out += "null", Status();
  if (const auto* b = get_if<bool>(value)) return out += *b ? "true" : "false", Status();
  if (const auto* i = get_if<int64_t>(value)) return out += std::to_string(*i), Status();
  if (const auto* d = get_if<std::chrono::nanoseconds>(value))
    return out += std::to_string(d->count()), Status();
  if (const auto* d = get_if<double>(value)) {
    if (!std::isfinite(*d))
      return Status::invalid("json: unsupported value: " + format_go_float(*d));
    const double size = std::abs(*d);
    out += size != 0 && (size < 1e-6 || size >= 1e21) ? format_go_float(*d) : format_float(*d);
    return {};
  }
  if (const auto t = time_of(value)) return append_text(out, t->to_rfc3339()), Status();
  if (const std::string* text = as_text(value)) return append_text(out, *text), Status();
  if (const ValueList* list = list_of(value)) {
    out.push_back('[');
    for (size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out.push_back(',');
      VAGT_CHECK_OK(append(out, (*list)[i], depth + 1));
    }
    out.push_back(']');
    return {};
  }
  const auto* object = get_if<std::shared_ptr<const TemplateObject>>(value);
  if (object != nullptr) {
    if (auto json = (*object)->to_json()) return out += *json, Status();
  }
  const ValueMap* map = map_of(value);
  if (map == nullptr) return append_text(out, print_value(value)), Status();
  out.push_back('{');
  bool first = true;
  for (const auto& [key, element] : *map) {
    if (!first) out.push_back(',');
    first = false;
    append_text(out, key);
    out.push_back(':');
    VAGT_CHECK_OK(append(out, element, depth + 1));
  }
  out.push_back('}');
  return {};
}

}  // namespace

Result<std::string> to_json(const TemplateValue& value) {
  std::string out;
  VAGT_CHECK_OK(append(out, value, 0));
  return out;
}

}  // namespace vagt::tmpl

#include "notify/json_template.h"

#include <boost/json.hpp>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "base/yaml.h"

namespace vagt::notify {
namespace {

namespace json = boost::json;

json::value from_yaml(const base::YamlNode& node) {
  if (node.is_map()) {
    json::object out;
    for (const auto& entry : node.entries()) out[entry.key] = from_yaml(entry.value);
    return out;
  }
  if (node.is_sequence()) {
    json::array out;
    for (const auto& item : node.items()) out.push_back(from_yaml(item));
    return out;
  }
  if (node.is_null()) return nullptr;
  const std::string& text = node.scalar();
  if (node.quoted()) return json::string(text);
  if (text == "true" || text == "false") return text == "true";
  if (const auto integer = parse_int(text)) return *integer;
  if (text.find_first_not_of("0123456789.+-eE") == std::string::npos) {
    if (const auto number = parse_float(text); number && *number - *number == 0) return *number;
  }
  return json::string(text);
}

json::value from_text(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") != std::string::npos) {
    base::YamlLimits limits;
    limits.max_bytes = 1u << 20;
    limits.max_nodes = 100'000;
    auto node = base::parse_yaml(text, "details", limits);
    // A text that is all comment or directive to YAML is a text to people.
    if (node.ok() && !(node->is_null() && text != "null" && text != "~")) return from_yaml(*node);
  }
  return json::string(text);
}

Status render_value(json::value& value, std::string_view field, bool structured, Renderer& r) {
  if (auto* object = value.if_object()) {
    for (auto& member : *object) {
      VAGT_CHECK_OK(render_value(member.value(), field, structured, r));
    }
  } else if (auto* array = value.if_array()) {
    for (auto& item : *array) VAGT_CHECK_OK(render_value(item, field, structured, r));
  } else if (const auto* text = value.if_string()) {
    VAGT_TRY(std::string out, r.required(field, std::string(*text)));
    value = structured ? from_text(out) : json::value(json::string(out));
  }
  return {};
}

json::value parse(std::string_view body) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(body.data(), body.size()), error);
  return error ? json::value() : value;
}

}  // namespace

Result<std::string> render_json(std::string_view text, std::string_view field, bool structured,
                                Renderer& r) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) return Status::invalid(error.message()).at(field);
  VAGT_CHECK_OK(render_value(value, field, structured, r));
  return json::serialize(value);
}

std::string yaml_text_to_json(const std::string& text) { return json::serialize(from_text(text)); }

std::string json_member(std::string_view body, std::string_view name) {
  const json::value value = parse(body);
  const auto* object = value.if_object();
  if (object == nullptr) return {};
  const auto* member = object->if_contains(json::string_view(name.data(), name.size()));
  if (member == nullptr || member->is_null()) return {};
  if (const auto* text = member->if_string()) return std::string(*text);
  return json::serialize(*member);
}

bool json_member_is_false(std::string_view body, std::string_view name) {
  return json_member(body, name) == "false";
}

}  // namespace vagt::notify

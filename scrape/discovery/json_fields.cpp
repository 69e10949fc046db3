#include "scrape/discovery/json_fields.h"

#include <fmt/core.h>

namespace vagt::scrape {

Result<boost::json::value> parse_json(std::string_view text) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = 64;  // managedFields of Kubernetes nest deeply
  boost::json::stream_parser parser({}, options);
  const size_t used = parser.write_some(text.data(), text.size(), error);
  if (!error && used < text.size() &&
      text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
    error = boost::json::error::extra_data;
  }
  if (!error && !parser.done()) {
    parser.finish(error);
    if (!error && !parser.done()) error = boost::json::error::incomplete;
  }
  if (error) {
    return Status(Code::Corruption, fmt::format("not JSON at byte {}: {}", used, error.message()));
  }
  return parser.release();
}

const boost::json::value* json_at(const boost::json::value& value, std::string_view path) {
  const boost::json::value* at = &value;
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const auto* object = at->if_object();
    at = object != nullptr ? object->if_contains(path.substr(0, dot)) : nullptr;
    if (at == nullptr) return nullptr;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return at;
}

std::string json_text(const boost::json::value& value, std::string_view path) {
  const auto* at = json_at(value, path);
  const auto* text = at != nullptr ? at->if_string() : nullptr;
  return text != nullptr ? std::string(text->data(), text->size()) : "";
}

int64_t json_number(const boost::json::value& value, std::string_view path) {
  const auto* at = json_at(value, path);
  if (at == nullptr || !at->is_number()) return 0;
  boost::json::error_code error;
  const auto number = at->to_number<int64_t>(error);
  return error ? 0 : number;
}

uint32_t json_port(const boost::json::value& value, std::string_view path) {
  const int64_t port = json_number(value, path);
  return port < 0 || port > 65535 ? 0 : static_cast<uint32_t>(port);
}

bool json_bool(const boost::json::value& value, std::string_view path) {
  const auto* at = json_at(value, path);
  const bool* yes = at != nullptr ? at->if_bool() : nullptr;
  return yes != nullptr && *yes;
}

const boost::json::array& json_list(const boost::json::value& value, std::string_view path) {
  static const boost::json::array kEmpty;
  const auto* at = json_at(value, path);
  const auto* list = at != nullptr ? at->if_array() : nullptr;
  return list != nullptr ? *list : kEmpty;
}

std::map<std::string, std::string> json_texts(const boost::json::value& value,
                                              std::string_view path) {
  std::map<std::string, std::string> out;
  const auto* at = json_at(value, path);
  const auto* object = at != nullptr ? at->if_object() : nullptr;
  if (object == nullptr) return out;
  for (const auto& [name, member] : *object) {
    const auto* text = member.if_string();
    if (text != nullptr) out[std::string(name)] = std::string(text->data(), text->size());
  }
  return out;
}

}  // namespace vagt::scrape

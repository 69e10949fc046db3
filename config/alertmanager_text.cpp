// The file as /api/v2/status shows it: same keys in the same order, secrets masked.
#include <algorithm>
#include <array>

#include "base/json_writer.h"
#include "config/alertmanager_sections.h"

namespace vagt::config {
namespace {

using base::YamlNode;

constexpr std::array<std::string_view, 34> kSecretKeys = {"password",
                                                          "credentials",
                                                          "client_secret",
                                                          "bearer_token",
                                                          "secrets",
                                                          "proxy_connect_header",
                                                          "smtp_auth_password",
                                                          "smtp_auth_secret",
                                                          "auth_password",
                                                          "auth_secret",
                                                          "slack_api_url",
                                                          "slack_app_token",
                                                          "app_token",
                                                          "opsgenie_api_key",
                                                          "api_key",
                                                          "wechat_api_secret",
                                                          "api_secret",
                                                          "victorops_api_key",
                                                          "telegram_bot_token",
                                                          "bot_token",
                                                          "rocketchat_token",
                                                          "rocketchat_token_id",
                                                          "token",
                                                          "token_id",
                                                          "mattermost_webhook_url",
                                                          "webhook_url",
                                                          "routing_key",
                                                          "service_key",
                                                          "user_key",
                                                          "secret_key",
                                                          "alert_source_token",
                                                          "access_token",
                                                          "payload_secret",
                                                          "key"};

bool is_secret(std::string_view key, std::string_view section) {
  // Where a key is an address in one section and a secret in another, the section decides.
  if (key == "url") return section == "webhook_configs" || section == "incidentio_configs";
  if (key == "api_url") return section == "slack_configs";
  if (key == "routing_key") return section == "pagerduty_configs";
  if (key == "key") return section == "tls_config" || section == "smtp_tls_config";
  return std::find(kSecretKeys.begin(), kSecretKeys.end(), key) != kSecretKeys.end();
}

void append_scalar(std::string& out, const YamlNode& node) {
  const std::string& text = node.scalar();
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./").find(c) != std::string_view::npos;
  };
  if (!node.quoted() && !text.empty() && text.front() != '-' &&
      text.find("...") == std::string::npos && std::all_of(text.begin(), text.end(), plain)) {
    out += text;
  } else {
    base::append_json_string(out, text);
  }
}

struct Place {
  std::string_view section;  // the nearest key above
  size_t indent = 0;
  bool masked = false;
};

void append(std::string& out, const YamlNode& node, const Place& place, bool after_dash) {
  const std::string pad(place.indent, ' ');
  if (node.is_map()) {
    if (node.entries().empty()) out += "{}\n";
    bool first = true;
    for (const auto& entry : node.entries()) {
      if (!first || !after_dash) out += pad;
      first = false;
      out += entry.key + ":";
      const YamlNode& value = entry.value;
      const bool block = (value.is_map() && !value.entries().empty()) ||
                         (value.is_sequence() && !value.items().empty());
      out += block ? "\n" : " ";
      append(out, value,
             {entry.key, place.indent + (value.is_map() ? 2 : 0),
              place.masked || is_secret(entry.key, place.section)},
             false);
    }
  } else if (node.is_sequence()) {
    if (node.items().empty()) out += "[]\n";
    for (const YamlNode& item : node.items()) {
      out += pad + "- ";
      append(out, item, {place.section, place.indent + 2, place.masked}, true);
    }
  } else if (node.is_null()) {
    out += "null\n";
  } else if (place.masked && !node.scalar().empty()) {
    out += "<secret>\n";
  } else {
    append_scalar(out, node);
    out += "\n";
  }
}

}  // namespace

std::string masked_alertmanager_yaml(const YamlNode& root) {
  std::string out;
  append(out, root, {}, false);
  return out;
}

}  // namespace vagt::config

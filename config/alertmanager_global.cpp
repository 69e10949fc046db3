// The global section, and the small readers that receivers share with it.
#include <fmt/core.h>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "config/alertmanager_sections.h"
#include "config/http_config.h"
#include "net/url.h"

namespace vagt::config {

using base::YamlFields;
using base::YamlNode;

Status check_url(const YamlNode& node, std::string_view url) {
  if (url.empty() || url.find("{{") != std::string_view::npos || url == "<secret>") return {};
  const size_t colon = url.find("://");
  const std::string_view scheme = url.substr(0, std::min(colon, url.find(':')));
  if (scheme != "http" && scheme != "https") {
    return node.error(
        fmt::format("unsupported scheme {} for URL",
                    quote(colon == std::string_view::npos ? std::string_view() : scheme)));
  }
  const auto parts = net::parse_url(url);
  if (!parts.ok()) {
    const bool no_host = colon + 3 >= url.size() || url[colon + 3] == '/';
    return node.error(no_host ? "missing host for URL" : parts.error().message());
  }
  if (parts->host.empty()) return node.error("missing host for URL");
  return {};
}

void read_url(YamlFields& fields, std::string_view key, std::string& out) {
  fields.read(key, out);
  if (const YamlNode* node = fields.take(key); node != nullptr && fields.ok()) {
    fields.fail(check_url(*node, out));
  }
}

void read_url(YamlFields& fields, std::string_view key, Secret& out) {
  fields.read(key, out);
  if (const YamlNode* node = fields.take(key); node != nullptr && fields.ok()) {
    fields.fail(check_url(*node, out.reveal()));
  }
}

void read_path(YamlFields& fields, const AlertmanagerContext& context, std::string_view key,
               std::string& out) {
  fields.read(key, out);
  out = resolve_path(context.base_dir, out);
}

Status only_one(const YamlNode& node, bool a, bool b, std::string_view names) {
  if (!a || !b) return {};
  return node.error(fmt::format("at most one of {} must be configured", names));
}

Status split_host_port(const YamlNode& node, const std::string& text, std::string& host,
                       std::string& port) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || (text.starts_with('[') && text[colon - 1] != ']')) {
    return node.error(fmt::format("address {}: missing port in address", text));
  }
  host = text.substr(0, colon);
  port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (port.empty()) return node.error(fmt::format("address {}: port cannot be empty", text));
  return {};
}

void read_receiver_http(YamlFields& fields, const AlertmanagerContext& context,
                        net::HttpClientConfig& out) {
  const net::HttpClientConfig& global = context.global.http;
  const YamlNode* node = fields.take("http_config");
  if (node == nullptr || node->is_null()) {
    out = global;
    return;
  }
  YamlFields own(*node);
  read_http_config(own, context.base_dir, out);
  fields.fail(own.finish("config.HTTPClientConfig"));
  // A receiver that only adds, say, credentials still goes through the proxy of all.
  if (out.proxy_url.empty() && !out.proxy_from_environment) {
    out.proxy_url = global.proxy_url;
    out.no_proxy = global.no_proxy;
    out.proxy_from_environment = global.proxy_from_environment;
    out.proxy_headers = global.proxy_headers;
  }
}

std::string yaml_to_json(const YamlNode& node) {
  std::string out;
  if (node.is_map()) {
    out = "{";
    for (const YamlNode::Entry& entry : node.entries()) {
      if (out.size() > 1) out += ",";
      base::append_json_string(out, entry.key);
      out += ":" + yaml_to_json(entry.value);
    }
    return out + "}";
  }
  if (node.is_sequence()) {
    out = "[";
    for (const YamlNode& item : node.items())
      out += (out.size() > 1 ? "," : "") + yaml_to_json(item);
    return out + "]";
  }
  if (node.is_null()) return "null";
  const std::string& text = node.scalar();
  if (!node.quoted() && (text == "true" || text == "false")) return text;
  if (!node.quoted()) {
    if (const auto integer = parse_int(text)) return std::to_string(*integer);
    const bool numeric = text.find_first_not_of("0123456789.+-eE") == std::string::npos;
    if (const auto number = numeric ? parse_float(text) : std::nullopt;
        number && *number - *number == 0) {
      return format_float(*number);
    }
  }
  base::append_json_string(out, text);
  return out;
}

namespace {

void read_smtp(YamlFields& f, const AlertmanagerContext& context, AlertmanagerGlobal& g) {
  f.read("smtp_from", g.smtp_from).read("smtp_hello", g.smtp_hello);
  f.read("smtp_smarthost", g.smtp_smarthost).read("smtp_auth_username", g.smtp_auth_username);
  f.read("smtp_auth_password", g.smtp_auth_password).read("smtp_auth_secret", g.smtp_auth_secret);
  f.read("smtp_auth_identity", g.smtp_auth_identity).read("smtp_require_tls", g.smtp_require_tls);
  f.read("smtp_force_implicit_tls", g.smtp_force_implicit_tls);
  read_path(f, context, "smtp_auth_password_file", g.smtp_auth_password_file);
  read_path(f, context, "smtp_auth_secret_file", g.smtp_auth_secret_file);
  if (const YamlNode* tls = f.take("smtp_tls_config")) {
    f.fail(read_tls_config(*tls, context.base_dir, g.smtp_tls));
  }
  if (const YamlNode* node = f.take("smtp_smarthost");
      node != nullptr && !g.smtp_smarthost.empty()) {
    std::string host, port;
    f.fail(split_host_port(*node, g.smtp_smarthost, host, port));
  }
}

void with_slash(std::string& url) {
  if (!url.empty() && !url.ends_with('/')) url.push_back('/');
}

void read_services(YamlFields& f, const AlertmanagerContext& context, AlertmanagerGlobal& g) {
  const auto path = [&](std::string_view key, std::string& out) {
    read_path(f, context, key, out);
  };
  read_url(f, "slack_api_url", g.slack_api_url);
  path("slack_api_url_file", g.slack_api_url_file);
  f.read("slack_app_token", g.slack_app_token);
  path("slack_app_token_file", g.slack_app_token_file);
  read_url(f, "slack_app_url", g.slack_app_url);
  read_url(f, "pagerduty_url", g.pagerduty_url);
  read_url(f, "opsgenie_api_url", g.opsgenie_api_url);
  f.read("opsgenie_api_key", g.opsgenie_api_key);
  path("opsgenie_api_key_file", g.opsgenie_api_key_file);
  read_url(f, "wechat_api_url", g.wechat_api_url);
  f.read("wechat_api_secret", g.wechat_api_secret).read("wechat_api_corp_id", g.wechat_api_corp_id);
  path("wechat_api_secret_file", g.wechat_api_secret_file);
  read_url(f, "victorops_api_url", g.victorops_api_url);
  f.read("victorops_api_key", g.victorops_api_key);
  path("victorops_api_key_file", g.victorops_api_key_file);
  read_url(f, "telegram_api_url", g.telegram_api_url);
  f.read("telegram_bot_token", g.telegram_bot_token);
  path("telegram_bot_token_file", g.telegram_bot_token_file);
  read_url(f, "webex_api_url", g.webex_api_url);
  read_url(f, "rocketchat_api_url", g.rocketchat_api_url);
  f.read("rocketchat_token", g.rocketchat_token).read("rocketchat_token_id", g.rocketchat_token_id);
  path("rocketchat_token_file", g.rocketchat_token_file);
  path("rocketchat_token_id_file", g.rocketchat_token_id_file);
  read_url(f, "jira_api_url", g.jira_api_url);
  read_url(f, "mattermost_webhook_url", g.mattermost_webhook_url);
  path("mattermost_webhook_url_file", g.mattermost_webhook_url_file);
  for (std::string* url :
       {&g.opsgenie_api_url, &g.wechat_api_url, &g.victorops_api_url, &g.rocketchat_api_url}) {
    with_slash(*url);
  }
}

}  // namespace

Status read_alertmanager_global(const YamlNode& node, AlertmanagerContext& context) {
  AlertmanagerGlobal& g = context.global;
  YamlFields f(node);
  f.read("resolve_timeout", g.resolve_timeout);
  if (const YamlNode* http = f.take("http_config"); http != nullptr && !http->is_null()) {
    YamlFields own(*http);
    read_http_config(own, context.base_dir, g.http);
    f.fail(own.finish("config.HTTPClientConfig"));
  }
  read_smtp(f, context, g);
  read_services(f, context, g);
  VAGT_CHECK_OK(f.finish("config.plain"));
  const auto pair = [&](const auto& text, const std::string& file, std::string_view names) {
    return only_one(node, !text.empty(), !file.empty(), names);
  };
  VAGT_CHECK_OK(pair(g.smtp_auth_password, g.smtp_auth_password_file,
                     "smtp_auth_password & smtp_auth_password_file"));
  VAGT_CHECK_OK(pair(g.smtp_auth_secret, g.smtp_auth_secret_file,
                     "smtp_auth_secret & smtp_auth_secret_file"));
  VAGT_CHECK_OK(pair(g.slack_api_url, g.slack_api_url_file, "slack_api_url & slack_api_url_file"));
  VAGT_CHECK_OK(
      pair(g.slack_app_token, g.slack_app_token_file, "slack_app_token & slack_app_token_file"));
  VAGT_CHECK_OK(pair(g.opsgenie_api_key, g.opsgenie_api_key_file,
                     "opsgenie_api_key & opsgenie_api_key_file"));
  VAGT_CHECK_OK(pair(g.wechat_api_secret, g.wechat_api_secret_file,
                     "wechat_api_secret & wechat_api_secret_file"));
  VAGT_CHECK_OK(pair(g.victorops_api_key, g.victorops_api_key_file,
                     "victorops_api_key & victorops_api_key_file"));
  VAGT_CHECK_OK(pair(g.telegram_bot_token, g.telegram_bot_token_file,
                     "telegram_bot_token & telegram_bot_token_file"));
  VAGT_CHECK_OK(pair(g.rocketchat_token, g.rocketchat_token_file,
                     "rocketchat_token & rocketchat_token_file"));
  VAGT_CHECK_OK(pair(g.rocketchat_token_id, g.rocketchat_token_id_file,
                     "rocketchat_token_id & rocketchat_token_id_file"));
  VAGT_CHECK_OK(pair(g.mattermost_webhook_url, g.mattermost_webhook_url_file,
                     "mattermost_webhook_url & mattermost_webhook_url_file"));
  // The old way of using a bot token: the URL of chat.postMessage beside it is the same thing.
  const bool api_url = !g.slack_api_url.empty() || !g.slack_api_url_file.empty();
  const bool token = !g.slack_app_token.empty() || !g.slack_app_token_file.empty();
  const bool workaround = g.slack_api_url.reveal() == "https://slack.com/api/chat.postMessage";
  return only_one(node, token, api_url && !workaround,
                  "slack_app_token/slack_app_token_file & slack_api_url/slack_api_url_file");
}

}  // namespace vagt::config

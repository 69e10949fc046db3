// Receivers: the section itself, and the integrations with few fields.
#include <fmt/core.h>

#include <algorithm>

#include "config/alertmanager_sections.h"
#include "config/http_config.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;
using Integrations = std::vector<notify::IntegrationConfig>;
using Context = AlertmanagerContext;

// What every integration has but email, stdout and exec.
template <class Config>
void read_common(YamlFields& f, const Context& context, Config& c) {
  f.read("send_resolved", c.send_resolved);
  read_receiver_http(f, context, c.http);
}

// Exactly one of a URL and its file.
template <class Config>
Status read_webhook_url(const YamlNode& node, YamlFields& f, const Context& context, Config& c,
                        const char* missing) {
  read_url(f, "webhook_url", c.webhook_url);
  read_path(f, context, "webhook_url_file", c.webhook_url_file);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.webhook_url.empty() && c.webhook_url_file.empty()) return node.error(missing);
  return only_one(node, !c.webhook_url.empty(), !c.webhook_url_file.empty(),
                  "webhook_url & webhook_url_file");
}

Status read_webhook(const YamlNode& node, const Context& context, Integrations& out) {
  notify::WebhookConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "url", c.url);
  read_path(f, context, "url_file", c.url_file);
  f.read("max_alerts", c.max_alerts).read("timeout", c.timeout);
  if (const YamlNode* payload = f.take("payload"); payload != nullptr && !payload->is_null()) {
    c.payload = yaml_to_json(*payload);
  }
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.url.empty() && c.url_file.empty())
    return node.error("missing URL in webhook config: one of url or url_file must be configured");
  VAGT_CHECK_OK(only_one(node, !c.url.empty(), !c.url_file.empty(), "url & url_file"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_victorops(const YamlNode& node, const Context& context, Integrations& out) {
  const AlertmanagerGlobal& g = context.global;
  notify::VictoropsConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("api_key", c.api_key);
  read_path(f, context, "api_key_file", c.api_key_file);
  read_url(f, "api_url", c.api_url);
  f.read("routing_key", c.routing_key).read("message_type", c.message_type);
  f.read("state_message", c.state_message).read("entity_display_name", c.entity_display_name);
  f.read("monitoring_tool", c.monitoring_tool).read("custom_fields", c.custom_fields);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.routing_key.empty()) return node.error("missing Routing key in VictorOps config");
  static constexpr std::string_view kFixed[] = {
      "routing_key",     "message_type", "state_message", "entity_display_name",
      "monitoring_tool", "entity_id",    "entity_state"};
  for (const auto& [name, text] : c.custom_fields) {
    if (std::find(std::begin(kFixed), std::end(kFixed), name) != std::end(kFixed)) {
      return node.error(
          fmt::format("VictorOps config contains custom field {} which cannot be used as it "
                      "conflicts with the fixed/static fields",
                      name));
    }
  }
  VAGT_CHECK_OK(
      only_one(node, !c.api_key.empty(), !c.api_key_file.empty(), "api_key & api_key_file"));
  if (c.api_key.empty() && c.api_key_file.empty()) {
    c.api_key = g.victorops_api_key;
    c.api_key_file = g.victorops_api_key_file;
  }
  if (c.api_key.empty() && c.api_key_file.empty())
    return node.error("no global VictorOps API Key set");
  if (c.api_url.empty()) c.api_url = g.victorops_api_url;
  if (!c.api_url.ends_with('/')) c.api_url.push_back('/');
  out.emplace_back(std::move(c));
  return {};
}

Status read_pushover(const YamlNode& node, const Context& context, Integrations& out) {
  notify::PushoverConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("user_key", c.user_key).read("token", c.token);
  read_path(f, context, "user_key_file", c.user_key_file);
  read_path(f, context, "token_file", c.token_file);
  f.read("title", c.title)
      .read("message", c.message)
      .read("url", c.url)
      .read("url_title", c.url_title);
  f.read("device", c.device).read("sound", c.sound).read("priority", c.priority);
  f.read("retry", c.retry).read("expire", c.expire).read("ttl", c.ttl);
  f.read("html", c.html).read("monospace", c.monospace);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.user_key.empty() && c.user_key_file.empty())
    return node.error(
        "missing user key in Pushover config: one of user_key or user_key_file must be configured");
  if (c.token.empty() && c.token_file.empty())
    return node.error(
        "missing token in Pushover config: one of token or token_file must be configured");
  VAGT_CHECK_OK(
      only_one(node, !c.user_key.empty(), !c.user_key_file.empty(), "user_key & user_key_file"));
  VAGT_CHECK_OK(only_one(node, !c.token.empty(), !c.token_file.empty(), "token & token_file"));
  VAGT_CHECK_OK(only_one(node, c.html, c.monospace, "html & monospace"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_discord(const YamlNode& node, const Context& context, Integrations& out) {
  notify::DiscordConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("title", c.title).read("message", c.message).read("content", c.content);
  f.read("username", c.username).read("avatar_url", c.avatar_url);
  VAGT_CHECK_OK(read_webhook_url(node, f, context, c, "no discord webhook URL provided"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_msteams(const YamlNode& node, const Context& context, Integrations& out) {
  notify::MsteamsConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("title", c.title).read("summary", c.summary).read("text", c.text);
  VAGT_CHECK_OK(
      read_webhook_url(node, f, context, c, "no msteams webhook URL or URLFile provided"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_msteams_v2(const YamlNode& node, const Context& context, Integrations& out) {
  notify::MsteamsV2Config c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("title", c.title).read("text", c.text);
  VAGT_CHECK_OK(
      read_webhook_url(node, f, context, c, "no msteamsv2 webhook URL or URLFile provided"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_webex(const YamlNode& node, const Context& context, Integrations& out) {
  notify::WebexConfig c;
  c.api_url = context.global.webex_api_url;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "api_url", c.api_url);
  f.read("room_id", c.room_id).read("message", c.message);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.room_id.empty()) return node.error("missing room_id on webex_config");
  if (!c.http.authorization) return node.error("missing webex_configs.http_config.authorization");
  out.emplace_back(std::move(c));
  return {};
}

Status read_incidentio(const YamlNode& node, const Context& context, Integrations& out) {
  notify::IncidentioConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "url", c.url);
  read_path(f, context, "url_file", c.url_file);
  f.read("alert_source_token", c.alert_source_token);
  read_path(f, context, "alert_source_token_file", c.alert_source_token_file);
  f.read("max_alerts", c.max_alerts).read("timeout", c.timeout);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.url.empty() && c.url_file.empty())
    return node.error("one of url or url_file must be configured");
  VAGT_CHECK_OK(only_one(node, !c.url.empty(), !c.url_file.empty(), "url & url_file"));
  const bool token = !c.alert_source_token.empty(), file = !c.alert_source_token_file.empty();
  VAGT_CHECK_OK(only_one(node, token, file, "alert_source_token & alert_source_token_file"));
  if (!token && !file && !c.http.authorization) {
    return node.error(
        "at least one of alert_source_token, alert_source_token_file or http_config.authorization "
        "must be configured");
  }
  out.emplace_back(std::move(c));
  return {};
}

Status read_ntfy(const YamlNode& node, const Context& context, Integrations& out) {
  notify::NtfyConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "url", c.url);
  f.read("topic", c.topic).read("token", c.token).read("title", c.title).read("message", c.message);
  f.read("priority", c.priority).read("click", c.click).read("tags", c.tags);
  read_path(f, context, "token_file", c.token_file);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.topic.empty()) return node.error("missing topic in ntfy config");
  VAGT_CHECK_OK(only_one(node, !c.token.empty(), !c.token_file.empty(), "token & token_file"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_matrix(const YamlNode& node, const Context& context, Integrations& out) {
  notify::MatrixConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "homeserver_url", c.homeserver_url);
  f.read("room_id", c.room_id)
      .read("access_token", c.access_token)
      .read("message_type", c.message_type);
  f.read("text", c.text).read("html", c.html);
  read_path(f, context, "access_token_file", c.access_token_file);
  VAGT_CHECK_OK(f.finish("config.plain"));
  while (c.homeserver_url.ends_with('/')) c.homeserver_url.pop_back();
  if (c.homeserver_url.empty()) return node.error("missing homeserver_url in matrix config");
  if (c.room_id.empty()) return node.error("missing room_id in matrix config");
  const bool token = !c.access_token.empty(), file = !c.access_token_file.empty();
  if (!token && !file)
    return node.error("one of access_token or access_token_file must be configured");
  out.emplace_back(std::move(c));
  return only_one(node, token, file, "access_token & access_token_file");
}

Status read_stdout(const YamlNode& node, const Context&, Integrations& out) {
  notify::StdoutConfig c;
  YamlFields f(node);
  f.read("send_resolved", c.send_resolved).read("text", c.text);
  VAGT_CHECK_OK(f.finish("config.plain"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_exec(const YamlNode& node, const Context&, Integrations& out) {
  notify::ExecConfig c;
  YamlFields f(node);
  f.read("send_resolved", c.send_resolved).read("command", c.command).read("timeout", c.timeout);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.command.empty()) return node.error("missing command in exec config");
  out.emplace_back(std::move(c));
  return {};
}

Status read_labels(const YamlNode& node, const std::string& name,
                   std::map<std::string, std::string>& out) {
  if (const auto it = out.find("name"); it != out.end() && it->second != name) {
    return node.error(fmt::format("receiver label \"name\" must match receiver name {}, got {}",
                                  quote(name), quote(it->second)));
  }
  out["name"] = name;
  return {};
}

}  // namespace

std::vector<IntegrationReader> integration_readers() {
  return {{"webhook_configs", "webhook", read_webhook},
          {"email_configs", "email", read_email},
          {"pagerduty_configs", "PagerDuty", read_pagerduty},
          {"opsgenie_configs", "OpsGenie", read_opsgenie},
          {"wechat_configs", "WeChat", read_wechat},
          {"slack_configs", "Slack", read_slack},
          {"victorops_configs", "VictorOps", read_victorops},
          {"pushover_configs", "Pushover", read_pushover},
          {"sns_configs", "SNS", read_sns},
          {"telegram_configs", "telegram", read_telegram},
          {"discord_configs", "discord", read_discord},
          {"webex_configs", "webex", read_webex},
          {"msteams_configs", "msteams", read_msteams},
          {"msteamsv2_configs", "msteamsv2", read_msteams_v2},
          {"jira_configs", "jira", read_jira},
          {"rocketchat_configs", "rocketchat", read_rocketchat},
          {"mattermost_configs", "mattermost", read_mattermost},
          {"incidentio_configs", "incidentio", read_incidentio},
          {"ntfy_configs", "ntfy", read_ntfy},
          {"matrix_configs", "matrix", read_matrix},
          {"stdout_configs", "stdout", read_stdout},
          {"exec_configs", "exec", read_exec}};
}

Status read_receiver(const YamlNode& node, const AlertmanagerContext& context,
                     notify::ReceiverConfig& out) {
  YamlFields fields(node);
  fields.read("name", out.name).read("labels", out.labels);
  const auto readers = integration_readers();
  for (const IntegrationReader& reader : readers) fields.take(reader.key);
  VAGT_CHECK_OK(fields.finish("config.plain"));
  if (out.name.empty()) return node.error("missing name in receiver");
  VAGT_CHECK_OK(read_labels(node, out.name, out.labels));
  for (const IntegrationReader& reader : readers) {
    const YamlNode* list = node.find(reader.key);
    if (list == nullptr || list->is_null()) continue;
    if (!list->is_sequence()) return list->error(fmt::format("{} must be a list", reader.key));
    for (const YamlNode& item : list->items()) {
      // "- {}" and "-" alike; for stdout an empty section says all there is to say.
      if (item.is_null() && reader.key != "stdout_configs") {
        return item.error(fmt::format("missing {} config", reader.title));
      }
      VAGT_CHECK_OK(reader.read(item, context, out.integrations));
    }
  }
  return {};
}

}  // namespace vagt::config

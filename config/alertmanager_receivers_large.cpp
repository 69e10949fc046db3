// The integrations with many fields, or with settings of their own in the global section.
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

template <class Config>
void read_common(YamlFields& f, const Context& context, Config& c) {
  f.read("send_resolved", c.send_resolved);
  read_receiver_http(f, context, c.http);
}

template <class T, class Read>
Status read_each(const YamlNode* list, Read read, std::vector<T>& out) {
  if (list == nullptr || list->is_null()) return {};
  if (!list->is_sequence()) return list->error("expected a list");
  for (const YamlNode& item : list->items()) VAGT_CHECK_OK(read(item, out.emplace_back()));
  return {};
}

// "x-kit" to "X-Kit", as mail headers are compared.
std::string canonical_header(std::string_view name) {
  std::string out(name);
  bool start = true;
  for (char& c : out) {
    if (start && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!start && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    start = c == '-';
  }
  return out;
}

Status read_mail_headers(const YamlNode* node, notify::EmailConfig& c) {
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_map()) return node->error("headers must be a map");
  for (const YamlNode::Entry& entry : node->entries()) {
    const std::string name = canonical_header(entry.key);
    for (const auto& [known, value] : c.headers) {
      if (known == name)
        return entry.value.error(fmt::format("duplicate header {} in email config", quote(name)));
    }
    VAGT_TRY(std::string value, entry.value.as_string());
    c.headers.emplace_back(name, std::move(value));
  }
  return {};
}

void email_from_global(const AlertmanagerGlobal& g, notify::EmailConfig& c) {
  if (c.from.empty()) c.from = g.smtp_from;
  if (c.hello.empty()) c.hello = g.smtp_hello;
  if (c.auth_username.empty()) c.auth_username = g.smtp_auth_username;
  if (c.auth_identity.empty()) c.auth_identity = g.smtp_auth_identity;
  if (c.auth_password.empty() && c.auth_password_file.empty()) {
    c.auth_password = g.smtp_auth_password;
    c.auth_password_file = g.smtp_auth_password_file;
  }
  if (c.auth_secret.empty() && c.auth_secret_file.empty()) {
    c.auth_secret = g.smtp_auth_secret;
    c.auth_secret_file = g.smtp_auth_secret_file;
  }
  if (!c.force_implicit_tls) c.force_implicit_tls = g.smtp_force_implicit_tls;
}

Status read_threading(const YamlNode* node, notify::EmailConfig& c) {
  if (node == nullptr) return {};
  YamlFields f(*node);
  f.read("enabled", c.threading).read("thread_by_date", c.thread_by_date);
  VAGT_CHECK_OK(f.finish("config.ThreadingConfig"));
  if (c.thread_by_date != "none" && c.thread_by_date != "daily") {
    return node->error("threading.thread_by_date must be \"none\" or \"daily\"");
  }
  return {};
}

Status read_slack_field(const YamlNode& node, notify::SlackField& out) {
  YamlFields f(node);
  f.read("title", out.title).read("value", out.value).read("short", out.short_field);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (out.title.empty()) return node.error("missing title in Slack field configuration");
  if (out.value.empty()) return node.error("missing value in Slack field configuration");
  return {};
}

Status read_slack_action(const YamlNode& node, notify::SlackAction& out) {
  YamlFields f(node);
  f.read("type", out.type).read("text", out.text).read("url", out.url).read("style", out.style);
  f.read("name", out.name).read("value", out.value);
  if (const YamlNode* confirm = f.take("confirm"); confirm != nullptr && !confirm->is_null()) {
    YamlFields own(*confirm);
    auto& c = out.confirm.emplace();
    own.read("text", c.text).read("title", c.title).read("ok_text", c.ok_text);
    own.read("dismiss_text", c.dismiss_text);
    f.fail(own.finish("config.plain"));
    if (c.text.empty()) f.fail(confirm->error("missing text in Slack confirmation configuration"));
  }
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (out.type.empty()) return node.error("missing type in Slack action configuration");
  if (out.text.empty()) return node.error("missing text in Slack action configuration");
  if (out.url.empty() && out.name.empty()) {
    return node.error("missing name or url in Slack action configuration");
  }
  return {};
}

// Own settings win as a whole: a webhook URL here puts the global token aside, and the reverse.
Status slack_address(const YamlNode& node, const AlertmanagerGlobal& g, notify::SlackConfig& c) {
  const auto url = [&] { return !c.api_url.empty() || !c.api_url_file.empty(); };
  const auto token = [&] { return !c.app_token.empty() || !c.app_token_file.empty(); };
  VAGT_CHECK_OK(
      only_one(node, !c.api_url.empty(), !c.api_url_file.empty(), "api_url & api_url_file"));
  VAGT_CHECK_OK(only_one(node, !c.app_token.empty(), !c.app_token_file.empty(),
                         "app_token & app_token_file"));
  VAGT_CHECK_OK(only_one(node, url(), token(), "api_url/api_url_file & app_token/app_token_file"));
  if (!url() && !token()) {
    if (!c.http.authorization) {
      c.app_token = g.slack_app_token;
      c.app_token_file = g.slack_app_token_file;
    }
    if (!token()) {
      c.api_url = g.slack_api_url;
      c.api_url_file = g.slack_api_url_file;
    }
  }
  if (!url() && !token())
    return node.error("no global Slack API URL set either inline or in a file");
  if (c.update_message && !token()) {
    return node.error("update_message can only be used with an app token, not with a webhook URL");
  }
  if (c.app_url.empty()) c.app_url = g.slack_app_url;
  if (c.app_url.empty()) c.app_url = "https://slack.com/api/chat.postMessage";
  return {};
}

Status read_details(const YamlNode* node, notify::PagerdutyConfig& c) {
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_map()) return node->error("details must be a map");
  for (const YamlNode::Entry& entry : node->entries()) {
    if (entry.value.is_map() || entry.value.is_sequence()) {
      c.details.erase(entry.key);
      c.nested_details[entry.key] = yaml_to_json(entry.value);
      continue;
    }
    VAGT_TRY(c.details[entry.key], entry.value.as_string());
  }
  return {};
}

Status read_responder(const YamlNode& node, notify::OpsgenieResponder& out) {
  YamlFields f(node);
  f.read("id", out.id).read("name", out.name).read("username", out.username).read("type", out.type);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (out.id.empty() && out.username.empty() && out.name.empty()) {
    return node.error(
        fmt::format("opsGenieConfig responder {{{} {} {} {}}} has to have at least one of id, "
                    "username or name specified",
                    out.id, out.name, out.username, out.type));
  }
  static constexpr std::string_view kTypes[] = {"team", "teams", "user", "escalation", "schedule"};
  const bool known = std::find(std::begin(kTypes), std::end(kTypes), out.type) != std::end(kTypes);
  if (!known && out.type.find("{{") == std::string::npos) {
    return node.error(
        fmt::format("opsGenieConfig responder {{{} {} {} {}}} type does not match valid options "
                    "^(team|teams|user|escalation|schedule)$",
                    out.id, out.name, out.username, out.type));
  }
  return {};
}

Status read_mattermost_field(const YamlNode& node, notify::MattermostField& out) {
  YamlFields f(node);
  f.read("title", out.title).read("value", out.value).read("short", out.short_field);
  return f.finish("config.plain");
}

void attachment_fields(YamlFields& f, notify::MattermostAttachment& a) {
  f.read("fallback", a.fallback).read("color", a.color).read("pretext", a.pretext);
  f.read("author_name", a.author_name)
      .read("author_link", a.author_link)
      .read("author_icon", a.author_icon);
  f.read("title", a.title).read("title_link", a.title_link).read("thumb_url", a.thumb_url);
  f.read("footer", a.footer).read("footer_icon", a.footer_icon).read("image_url", a.image_url);
  f.fail(read_each(f.take("fields"), read_mattermost_field, a.fields));
}

Status read_jira_field(const YamlNode* node, notify::JiraField& out) {
  if (node == nullptr || node->is_null()) return {};
  if (node->is_scalar()) {
    VAGT_TRY(out.text, node->as_string());
    return {};
  }
  YamlFields f(*node);
  f.read("template", out.text).read("enable_update", out.update);
  return f.finish("config.JiraFieldConfig");
}

}  // namespace

Status read_email(const YamlNode& node, const Context& context, Integrations& out) {
  const AlertmanagerGlobal& g = context.global;
  notify::EmailConfig c;
  c.require_tls = g.smtp_require_tls;
  c.tls = g.smtp_tls;
  std::string smarthost;
  YamlFields f(node);
  f.read("send_resolved", c.send_resolved)
      .read("to", c.to)
      .read("from", c.from)
      .read("hello", c.hello);
  f.read("smarthost", smarthost)
      .read("auth_username", c.auth_username)
      .read("auth_password", c.auth_password);
  f.read("auth_secret", c.auth_secret).read("auth_identity", c.auth_identity);
  read_path(f, context, "auth_password_file", c.auth_password_file);
  read_path(f, context, "auth_secret_file", c.auth_secret_file);
  f.read("html", c.html).read("text", c.text).read("require_tls", c.require_tls);
  f.read("force_implicit_tls", c.force_implicit_tls);
  f.fail(read_mail_headers(f.take("headers"), c));
  f.fail(read_threading(f.take("threading"), c));
  if (const YamlNode* tls = f.take("tls_config")) {
    c.tls = {};
    f.fail(read_tls_config(*tls, context.base_dir, c.tls));
  }
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.to.empty()) return node.error("missing to address in email config");
  VAGT_CHECK_OK(only_one(node, !c.auth_password.empty(), !c.auth_password_file.empty(),
                         "auth_password & auth_password_file"));
  VAGT_CHECK_OK(only_one(node, !c.auth_secret.empty(), !c.auth_secret_file.empty(),
                         "auth_secret & auth_secret_file"));
  email_from_global(g, c);
  if (smarthost.empty()) smarthost = g.smtp_smarthost;
  if (smarthost.empty()) return node.error("no global SMTP smarthost set");
  VAGT_CHECK_OK(split_host_port(node, smarthost, c.smarthost_host, c.smarthost_port));
  if (c.from.empty()) return node.error("no global SMTP from set");
  out.emplace_back(std::move(c));
  return {};
}

Status read_slack(const YamlNode& node, const Context& context, Integrations& out) {
  notify::SlackConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "api_url", c.api_url);
  read_path(f, context, "api_url_file", c.api_url_file);
  f.read("app_token", c.app_token);
  read_path(f, context, "app_token_file", c.app_token_file);
  read_url(f, "app_url", c.app_url);
  f.read("channel", c.channel).read("username", c.username).read("color", c.color);
  f.read("title", c.title).read("title_link", c.title_link).read("pretext", c.pretext);
  f.read("text", c.text).read("footer", c.footer).read("fallback", c.fallback);
  f.read("callback_id", c.callback_id)
      .read("icon_emoji", c.icon_emoji)
      .read("icon_url", c.icon_url);
  f.read("image_url", c.image_url)
      .read("thumb_url", c.thumb_url)
      .read("message_text", c.message_text);
  f.read("short_fields", c.short_fields)
      .read("link_names", c.link_names)
      .read("mrkdwn_in", c.mrkdwn_in);
  f.read("update_message", c.update_message).read("timeout", c.timeout);
  f.fail(read_each(f.take("fields"), read_slack_field, c.fields));
  f.fail(read_each(f.take("actions"), read_slack_action, c.actions));
  VAGT_CHECK_OK(f.finish("config.plain"));
  VAGT_CHECK_OK(slack_address(node, context.global, c));
  out.emplace_back(std::move(c));
  return {};
}

Status read_pagerduty(const YamlNode& node, const Context& context, Integrations& out) {
  notify::PagerdutyConfig c;
  c.url = context.global.pagerduty_url;
  c.details = {{"firing", R"({{ template "pagerduty.default.instances" .Alerts.Firing }})"},
               {"resolved", R"({{ template "pagerduty.default.instances" .Alerts.Resolved }})"},
               {"num_firing", "{{ .Alerts.Firing | len }}"},
               {"num_resolved", "{{ .Alerts.Resolved | len }}"}};
  YamlFields f(node);
  read_common(f, context, c);
  f.read("service_key", c.service_key).read("routing_key", c.routing_key);
  read_path(f, context, "service_key_file", c.service_key_file);
  read_path(f, context, "routing_key_file", c.routing_key_file);
  read_url(f, "url", c.url);
  f.read("client", c.client).read("client_url", c.client_url).read("description", c.description);
  f.read("severity", c.severity).read("class", c.event_class).read("component", c.component);
  f.read("group", c.group).read("source", c.source).read("timeout", c.timeout);
  f.fail(read_details(f.take("details"), c));
  f.fail(read_each(
      f.take("links"),
      [](const YamlNode& item, notify::PagerdutyLink& link) {
        YamlFields own(item);
        own.read("href", link.href).read("text", link.text);
        return own.finish("config.PagerdutyLink");
      },
      c.links));
  f.fail(read_each(
      f.take("images"),
      [](const YamlNode& item, notify::PagerdutyImage& image) {
        YamlFields own(item);
        own.read("src", image.src).read("alt", image.alt).read("href", image.href);
        return own.finish("config.PagerdutyImage");
      },
      c.images));
  VAGT_CHECK_OK(f.finish("config.plain"));
  const bool routing = !c.routing_key.empty(), service = !c.service_key.empty();
  if (!routing && !service && c.routing_key_file.empty() && c.service_key_file.empty()) {
    return node.error("missing service or routing key in PagerDuty config");
  }
  VAGT_CHECK_OK(
      only_one(node, routing, !c.routing_key_file.empty(), "routing_key & routing_key_file"));
  VAGT_CHECK_OK(
      only_one(node, service, !c.service_key_file.empty(), "service_key & service_key_file"));
  out.emplace_back(std::move(c));
  return {};
}

Status read_opsgenie(const YamlNode& node, const Context& context, Integrations& out) {
  const AlertmanagerGlobal& g = context.global;
  notify::OpsgenieConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("api_key", c.api_key);
  read_path(f, context, "api_key_file", c.api_key_file);
  read_url(f, "api_url", c.api_url);
  f.read("message", c.message).read("description", c.description).read("source", c.source);
  f.read("details", c.details)
      .read("tags", c.tags)
      .read("note", c.note)
      .read("priority", c.priority);
  f.read("entity", c.entity).read("actions", c.actions).read("update_alerts", c.update_alerts);
  f.fail(read_each(f.take("responders"), read_responder, c.responders));
  VAGT_CHECK_OK(f.finish("config.plain"));
  VAGT_CHECK_OK(
      only_one(node, !c.api_key.empty(), !c.api_key_file.empty(), "api_key & api_key_file"));
  if (c.api_key.empty() && c.api_key_file.empty()) {
    c.api_key = g.opsgenie_api_key;
    c.api_key_file = g.opsgenie_api_key_file;
  }
  if (c.api_key.empty() && c.api_key_file.empty()) {
    return node.error("no global OpsGenie API Key set either inline or in a file");
  }
  if (c.api_url.empty()) c.api_url = g.opsgenie_api_url;
  if (!c.api_url.ends_with('/')) c.api_url.push_back('/');
  out.emplace_back(std::move(c));
  return {};
}

Status read_wechat(const YamlNode& node, const Context& context, Integrations& out) {
  const AlertmanagerGlobal& g = context.global;
  notify::WechatConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("api_secret", c.api_secret).read("corp_id", c.corp_id).read("message", c.message);
  read_path(f, context, "api_secret_file", c.api_secret_file);
  read_url(f, "api_url", c.api_url);
  f.read("to_user", c.to_user).read("to_party", c.to_party).read("to_tag", c.to_tag);
  f.read("agent_id", c.agent_id).read("message_type", c.message_type);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.message_type != "text" && c.message_type != "markdown") {
    return node.error(
        fmt::format("weChat message type {} does not match valid options ^(text|markdown)$",
                    quote(c.message_type)));
  }
  VAGT_CHECK_OK(only_one(node, !c.api_secret.empty(), !c.api_secret_file.empty(),
                         "api_secret & api_secret_file"));
  if (c.api_secret.empty() && c.api_secret_file.empty()) {
    c.api_secret = g.wechat_api_secret;
    c.api_secret_file = g.wechat_api_secret_file;
  }
  if (c.api_secret.empty() && c.api_secret_file.empty())
    return node.error("no global Wechat ApiSecret set");
  if (c.corp_id.empty()) c.corp_id = g.wechat_api_corp_id;
  if (c.corp_id.empty()) return node.error("no global Wechat CorpID set");
  if (c.api_url.empty()) c.api_url = g.wechat_api_url;
  if (!c.api_url.ends_with('/')) c.api_url.push_back('/');
  out.emplace_back(std::move(c));
  return {};
}

Status read_telegram(const YamlNode& node, const Context& context, Integrations& out) {
  const AlertmanagerGlobal& g = context.global;
  notify::TelegramConfig c;
  c.api_url = g.telegram_api_url;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "api_url", c.api_url);
  f.read("bot_token", c.bot_token)
      .read("chat_id", c.chat_id)
      .read("message_thread_id", c.message_thread_id);
  read_path(f, context, "bot_token_file", c.bot_token_file);
  read_path(f, context, "chat_id_file", c.chat_id_file);
  f.read("message", c.message).read("parse_mode", c.parse_mode);
  f.read("disable_notifications", c.disable_notifications);
  VAGT_CHECK_OK(f.finish("config.plain"));
  VAGT_CHECK_OK(only_one(node, !c.bot_token.empty(), !c.bot_token_file.empty(),
                         "bot_token & bot_token_file"));
  VAGT_CHECK_OK(only_one(node, c.chat_id != 0, !c.chat_id_file.empty(), "chat_id & chat_id_file"));
  if (c.bot_token.empty() && c.bot_token_file.empty()) {
    c.bot_token = g.telegram_bot_token;
    c.bot_token_file = g.telegram_bot_token_file;
  }
  if (c.bot_token.empty() && c.bot_token_file.empty())
    return node.error("missing bot_token on telegram_config");
  if (c.chat_id == 0 && c.chat_id_file.empty())
    return node.error("missing chat_id on telegram_config");
  static constexpr std::string_view kModes[] = {"", "Markdown", "MarkdownV2", "HTML"};
  if (std::find(std::begin(kModes), std::end(kModes), c.parse_mode) == std::end(kModes)) {
    return node.error(
        "unknown parse_mode on telegram_config, must be Markdown, MarkdownV2, HTML or empty "
        "string");
  }
  while (c.api_url.ends_with('/')) c.api_url.pop_back();
  out.emplace_back(std::move(c));
  return {};
}

Status read_sns(const YamlNode& node, const Context& context, Integrations& out) {
  notify::SnsConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  f.read("api_url", c.api_url).read("topic_arn", c.topic_arn).read("target_arn", c.target_arn);
  f.read("phone_number", c.phone_number).read("subject", c.subject).read("message", c.message);
  f.read("attributes", c.attributes);
  if (const YamlNode* keys = f.take("sigv4"); keys != nullptr && !keys->is_null()) {
    std::string external_id;
    bool fips = false;
    YamlFields own(*keys);
    own.read("region", c.region).read("access_key", c.access_key).read("secret_key", c.secret_key);
    own.read("profile", c.profile).read("role_arn", c.role_arn).read("external_id", external_id);
    own.read("use_fips_sts_endpoint", fips);
    f.fail(own.finish("sigv4.SigV4Config"));
    if (c.access_key.empty() != c.secret_key.empty()) {
      f.fail(
          keys->error("must provide a AWS SigV4 Access key and Secret Key if credentials are "
                      "specified in the SigV4 config"));
    }
    if (!c.role_arn.empty())
      f.fail(keys->error("role_arn is not supported: give the keys of the role"));
  }
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.target_arn.empty() && c.topic_arn.empty() && c.phone_number.empty()) {
    return node.error(
        "must provide either a Target ARN, Topic ARN, or Phone Number for SNS config");
  }
  out.emplace_back(std::move(c));
  return {};
}

Status read_jira(const YamlNode& node, const Context& context, Integrations& out) {
  notify::JiraConfig c;
  c.api_url = context.global.jira_api_url;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "api_url", c.api_url);
  f.read("api_type", c.api_type).read("project", c.project).read("issue_type", c.issue_type);
  f.fail(read_jira_field(f.take("summary"), c.summary));
  f.fail(read_jira_field(f.take("description"), c.description));
  f.read("labels", c.labels)
      .read("priority", c.priority)
      .read("reopen_transition", c.reopen_transition);
  f.read("resolve_transition", c.resolve_transition)
      .read("wont_fix_resolution", c.wont_fix_resolution);
  f.read("reopen_duration", c.reopen_duration);
  for (const char* key : {"fields", "custom_fields"}) {
    const YamlNode* fields = f.take(key);
    if (fields == nullptr || fields->is_null()) continue;
    if (!fields->is_map()) f.fail(fields->error("fields must be a map"));
    for (const auto& entry : fields->entries()) c.fields[entry.key] = yaml_to_json(entry.value);
  }
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (c.project.empty()) return node.error("missing project in jira_config");
  if (c.issue_type.empty()) return node.error("missing issue_type in jira_config");
  if (c.api_url.empty()) return node.error("no global Jira Cloud URL set");
  if (c.api_type != "auto" && c.api_type != "cloud" && c.api_type != "datacenter") {
    return node.error("unknown api_type on jira_config, must be cloud, datacenter or auto");
  }
  out.emplace_back(std::move(c));
  return {};
}

Status read_rocketchat(const YamlNode& node, const Context& context, Integrations& out) {
  const AlertmanagerGlobal& g = context.global;
  notify::RocketchatConfig c;
  c.api_url = g.rocketchat_api_url;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "api_url", c.api_url);
  f.read("token", c.token).read("token_id", c.token_id).read("channel", c.channel);
  read_path(f, context, "token_file", c.token_file);
  read_path(f, context, "token_id_file", c.token_id_file);
  f.read("color", c.color)
      .read("title", c.title)
      .read("title_link", c.title_link)
      .read("text", c.text);
  f.read("emoji", c.emoji).read("icon_url", c.icon_url).read("image_url", c.image_url);
  f.read("thumb_url", c.thumb_url)
      .read("short_fields", c.short_fields)
      .read("link_names", c.link_names);
  f.fail(read_each(
      f.take("fields"),
      [](const YamlNode& item, notify::RocketchatField& field) {
        YamlFields own(item);
        own.read("title", field.title).read("value", field.value).read("short", field.short_field);
        return own.finish("config.RocketchatAttachmentField");
      },
      c.fields));
  f.fail(read_each(
      f.take("actions"),
      [](const YamlNode& item, notify::RocketchatAction& action) {
        YamlFields own(item);
        own.read("type", action.type)
            .read("text", action.text)
            .read("url", action.url)
            .read("msg", action.msg);
        return own.finish("config.RocketchatAttachmentAction");
      },
      c.actions));
  VAGT_CHECK_OK(f.finish("config.plain"));
  VAGT_CHECK_OK(only_one(node, !c.token.empty(), !c.token_file.empty(), "token & token_file"));
  VAGT_CHECK_OK(
      only_one(node, !c.token_id.empty(), !c.token_id_file.empty(), "token_id & token_id_file"));
  if (c.token.empty() && c.token_file.empty()) {
    c.token = g.rocketchat_token;
    c.token_file = g.rocketchat_token_file;
  }
  if (c.token_id.empty() && c.token_id_file.empty()) {
    c.token_id = g.rocketchat_token_id;
    c.token_id_file = g.rocketchat_token_id_file;
  }
  if (c.token.empty() && c.token_file.empty()) {
    return node.error("no global Rocketchat Token set either inline or in a file");
  }
  if (c.token_id.empty() && c.token_id_file.empty()) {
    return node.error("no global Rocketchat TokenID set either inline or in a file");
  }
  if (!c.api_url.ends_with('/')) c.api_url.push_back('/');
  out.emplace_back(std::move(c));
  return {};
}

Status read_mattermost(const YamlNode& node, const Context& context, Integrations& out) {
  const AlertmanagerGlobal& g = context.global;
  notify::MattermostConfig c;
  YamlFields f(node);
  read_common(f, context, c);
  read_url(f, "webhook_url", c.webhook_url);
  read_path(f, context, "webhook_url_file", c.webhook_url_file);
  f.read("channel", c.channel).read("username", c.username).read("text", c.text);
  f.read("icon_url", c.icon_url).read("icon_emoji", c.icon_emoji).read("type", c.type);
  if (const YamlNode* props = f.take("props")) {
    YamlFields own(*props);
    own.read("card", c.props_card);
    f.fail(own.finish("config.MattermostProps"));
  }
  if (const YamlNode* priority = f.take("priority")) {
    YamlFields own(*priority);
    own.read("priority", c.priority).read("requested_ack", c.requested_ack);
    own.read("persistent_notifications", c.persistent_notifications);
    f.fail(own.finish("config.MattermostPriority"));
  }
  f.fail(read_each(
      f.take("attachments"),
      [](const YamlNode& item, notify::MattermostAttachment& a) {
        YamlFields own(item);
        own.read("text", a.text);
        attachment_fields(own, a);
        return own.finish("config.MattermostAttachment");
      },
      c.attachments));
  // One attachment may be written without its list.
  notify::MattermostAttachment flat;
  attachment_fields(f, flat);
  VAGT_CHECK_OK(f.finish("config.plain"));
  if (!flat.title.empty() || !flat.color.empty() || !flat.pretext.empty() ||
      !flat.fallback.empty() || !flat.fields.empty() || !flat.footer.empty() ||
      !flat.image_url.empty() || !flat.author_name.empty()) {
    c.attachments.push_back(std::move(flat));
  }
  VAGT_CHECK_OK(only_one(node, !c.webhook_url.empty(), !c.webhook_url_file.empty(),
                         "webhook_url & webhook_url_file"));
  if (c.webhook_url.empty() && c.webhook_url_file.empty()) {
    c.webhook_url = g.mattermost_webhook_url;
    c.webhook_url_file = g.mattermost_webhook_url_file;
  }
  if (c.webhook_url.empty() && c.webhook_url_file.empty()) {
    return node.error("no global Mattermost Webhook URL set either inline or in a file");
  }
  out.emplace_back(std::move(c));
  return {};
}

}  // namespace vagt::config

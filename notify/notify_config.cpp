#include "notify/notify_config.h"

namespace vagt::notify {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

using Fields = std::vector<std::pair<std::string, std::string>>;

Fields slack_fields(const SlackConfig& c) {
  Fields out = {{"channel", c.channel},
                {"username", c.username},
                {"color", c.color},
                {"title", c.title},
                {"title_link", c.title_link},
                {"pretext", c.pretext},
                {"text", c.text},
                {"footer", c.footer},
                {"fallback", c.fallback},
                {"callback_id", c.callback_id},
                {"icon_emoji", c.icon_emoji},
                {"icon_url", c.icon_url},
                {"image_url", c.image_url},
                {"thumb_url", c.thumb_url},
                {"message_text", c.message_text}};
  for (const auto& field : c.fields) {
    out.emplace_back("fields.title", field.title);
    out.emplace_back("fields.value", field.value);
  }
  for (const auto& action : c.actions) {
    out.emplace_back("actions.text", action.text);
    out.emplace_back("actions.url", action.url);
    out.emplace_back("actions.value", action.value);
  }
  return out;
}

Fields pagerduty_fields(const PagerdutyConfig& c) {
  Fields out = {
      {"client", c.client},     {"client_url", c.client_url}, {"description", c.description},
      {"severity", c.severity}, {"class", c.event_class},     {"component", c.component},
      {"group", c.group},       {"source", c.source}};
  for (const auto& [name, text] : c.details) out.emplace_back("details." + name, text);
  for (const auto& link : c.links) out.emplace_back("links.href", link.href);
  for (const auto& image : c.images) out.emplace_back("images.src", image.src);
  return out;
}

Fields opsgenie_fields(const OpsgenieConfig& c) {
  Fields out = {{"message", c.message}, {"description", c.description},
                {"source", c.source},   {"tags", c.tags},
                {"note", c.note},       {"priority", c.priority},
                {"entity", c.entity},   {"actions", c.actions}};
  for (const auto& [name, text] : c.details) out.emplace_back("details." + name, text);
  for (const auto& r : c.responders) {
    out.emplace_back("responders.name", r.name);
    out.emplace_back("responders.id", r.id);
    out.emplace_back("responders.username", r.username);
  }
  return out;
}

Fields email_fields(const EmailConfig& c) {
  Fields out = {{"to", c.to}, {"from", c.from}, {"html", c.html}, {"text", c.text}};
  for (const auto& [name, text] : c.headers) out.emplace_back("headers." + name, text);
  return out;
}

Fields mattermost_fields(const MattermostConfig& c) {
  Fields out = {{"channel", c.channel}, {"username", c.username}, {"text", c.text}};
  for (const auto& a : c.attachments) {
    out.emplace_back("attachments.title", a.title);
    out.emplace_back("attachments.text", a.text);
    out.emplace_back("attachments.color", a.color);
    out.emplace_back("attachments.pretext", a.pretext);
  }
  return out;
}

}  // namespace

std::string_view integration_name(const IntegrationConfig& config) {
  return std::visit(Overloaded{[](const WebhookConfig&) { return "webhook"; },
                               [](const EmailConfig&) { return "email"; },
                               [](const PagerdutyConfig&) { return "pagerduty"; },
                               [](const OpsgenieConfig&) { return "opsgenie"; },
                               [](const WechatConfig&) { return "wechat"; },
                               [](const SlackConfig&) { return "slack"; },
                               [](const VictoropsConfig&) { return "victorops"; },
                               [](const PushoverConfig&) { return "pushover"; },
                               [](const SnsConfig&) { return "sns"; },
                               [](const TelegramConfig&) { return "telegram"; },
                               [](const DiscordConfig&) { return "discord"; },
                               [](const WebexConfig&) { return "webex"; },
                               [](const MsteamsConfig&) { return "msteams"; },
                               [](const MsteamsV2Config&) { return "msteamsv2"; },
                               [](const JiraConfig&) { return "jira"; },
                               [](const RocketchatConfig&) { return "rocketchat"; },
                               [](const MattermostConfig&) { return "mattermost"; },
                               [](const IncidentioConfig&) { return "incidentio"; },
                               [](const NtfyConfig&) { return "ntfy"; },
                               [](const MatrixConfig&) { return "matrix"; },
                               [](const StdoutConfig&) { return "stdout"; },
                               [](const ExecConfig&) { return "exec"; }},
                    config);
}

bool sends_resolved(const IntegrationConfig& config) {
  return std::visit([](const auto& c) { return c.send_resolved; }, config);
}

std::unique_ptr<Notifier> make_notifier(const IntegrationConfig& config) {
  return std::visit(
      Overloaded{[](const WebhookConfig& c) { return make_webhook_notifier(c); },
                 [](const EmailConfig& c) { return make_email_notifier(c); },
                 [](const PagerdutyConfig& c) { return make_pagerduty_notifier(c); },
                 [](const OpsgenieConfig& c) { return make_opsgenie_notifier(c); },
                 [](const WechatConfig& c) { return make_wechat_notifier(c); },
                 [](const SlackConfig& c) { return make_slack_notifier(c); },
                 [](const VictoropsConfig& c) { return make_victorops_notifier(c); },
                 [](const PushoverConfig& c) { return make_pushover_notifier(c); },
                 [](const SnsConfig& c) { return make_sns_notifier(c); },
                 [](const TelegramConfig& c) { return make_telegram_notifier(c); },
                 [](const DiscordConfig& c) { return make_discord_notifier(c); },
                 [](const WebexConfig& c) { return make_webex_notifier(c); },
                 [](const MsteamsConfig& c) { return make_msteams_notifier(c); },
                 [](const MsteamsV2Config& c) { return make_msteams_v2_notifier(c); },
                 [](const JiraConfig& c) { return make_jira_notifier(c); },
                 [](const RocketchatConfig& c) { return make_rocketchat_notifier(c); },
                 [](const MattermostConfig& c) { return make_mattermost_notifier(c); },
                 [](const IncidentioConfig& c) { return make_incidentio_notifier(c); },
                 [](const NtfyConfig& c) { return make_ntfy_notifier(c); },
                 [](const MatrixConfig& c) { return make_matrix_notifier(c); },
                 [](const StdoutConfig& c) { return make_stdout_notifier(c); },
                 [](const ExecConfig& c) { return make_exec_notifier(c); }},
      config);
}

Fields templated_fields(const IntegrationConfig& config) {
  return std::visit(
      Overloaded{
          [](const WebhookConfig& c) {
            return Fields{{"url", c.url.reveal()}};
          },
          [](const EmailConfig& c) { return email_fields(c); },
          [](const PagerdutyConfig& c) { return pagerduty_fields(c); },
          [](const OpsgenieConfig& c) { return opsgenie_fields(c); },
          [](const WechatConfig& c) {
            return Fields{{"message", c.message},
                          {"to_user", c.to_user},
                          {"to_party", c.to_party},
                          {"to_tag", c.to_tag},
                          {"agent_id", c.agent_id}};
          },
          [](const SlackConfig& c) { return slack_fields(c); },
          [](const VictoropsConfig& c) {
            return Fields{{"routing_key", c.routing_key},
                          {"message_type", c.message_type},
                          {"state_message", c.state_message},
                          {"entity_display_name", c.entity_display_name}};
          },
          [](const PushoverConfig& c) {
            return Fields{{"title", c.title},
                          {"message", c.message},
                          {"url", c.url},
                          {"priority", c.priority},
                          {"sound", c.sound}};
          },
          [](const SnsConfig& c) {
            return Fields{{"subject", c.subject}, {"message", c.message}};
          },
          [](const TelegramConfig& c) {
            return Fields{{"message", c.message}};
          },
          [](const DiscordConfig& c) {
            return Fields{{"title", c.title}, {"message", c.message}, {"content", c.content}};
          },
          [](const WebexConfig& c) {
            return Fields{{"message", c.message}, {"room_id", c.room_id}};
          },
          [](const MsteamsConfig& c) {
            return Fields{{"title", c.title}, {"summary", c.summary}, {"text", c.text}};
          },
          [](const MsteamsV2Config& c) {
            return Fields{{"title", c.title}, {"text", c.text}};
          },
          [](const JiraConfig& c) {
            return Fields{{"summary", c.summary.text},
                          {"description", c.description.text},
                          {"priority", c.priority},
                          {"project", c.project}};
          },
          [](const RocketchatConfig& c) {
            return Fields{{"title", c.title}, {"text", c.text}, {"color", c.color}};
          },
          [](const MattermostConfig& c) { return mattermost_fields(c); },
          [](const IncidentioConfig&) { return Fields{}; },
          [](const NtfyConfig& c) {
            return Fields{{"topic", c.topic}, {"title", c.title}, {"message", c.message}};
          },
          [](const MatrixConfig& c) {
            return Fields{{"text", c.text}, {"html", c.html}};
          },
          [](const StdoutConfig& c) {
            return Fields{{"text", c.text}};
          },
          [](const ExecConfig& c) {
            Fields out;
            for (const auto& word : c.command) out.emplace_back("command", word);
            return out;
          }},
      config);
}

}  // namespace vagt::notify

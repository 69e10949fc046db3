// The parts alertmanager.yml is read in. Inside this folder only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "config/alertmanager_config.h"

namespace vagt::config {

struct AlertmanagerGlobal {
  Duration resolve_timeout = std::chrono::minutes(5);
  net::HttpClientConfig http;

  std::string smtp_from, smtp_hello = "localhost", smtp_smarthost, smtp_auth_username,
                         smtp_auth_identity;
  Secret smtp_auth_password, smtp_auth_secret;
  std::string smtp_auth_password_file, smtp_auth_secret_file;
  bool smtp_require_tls = true;
  std::optional<bool> smtp_force_implicit_tls;
  net::TlsOptions smtp_tls;

  Secret slack_api_url, slack_app_token;
  std::string slack_api_url_file, slack_app_token_file, slack_app_url;
  std::string pagerduty_url = "https://events.pagerduty.com/v2/enqueue";
  std::string opsgenie_api_url = "https://api.opsgenie.com/", opsgenie_api_key_file;
  Secret opsgenie_api_key;
  std::string wechat_api_url = "https://qyapi.weixin.qq.com/cgi-bin/", wechat_api_secret_file,
              wechat_api_corp_id;
  Secret wechat_api_secret;
  std::string victorops_api_url =
                  "https://alert.victorops.com/integrations/generic/20131114/alert/",
              victorops_api_key_file;
  Secret victorops_api_key;
  std::string telegram_api_url = "https://api.telegram.org", telegram_bot_token_file;
  Secret telegram_bot_token;
  std::string webex_api_url = "https://webexapis.com/v1/messages";
  std::string rocketchat_api_url = "https://open.rocket.chat/", rocketchat_token_file,
              rocketchat_token_id_file;
  Secret rocketchat_token, rocketchat_token_id;
  std::string jira_api_url;
  Secret mattermost_webhook_url;
  std::string mattermost_webhook_url_file;
};

struct AlertmanagerContext {
  std::string base_dir;
  notify::MatcherSyntax syntax = notify::MatcherSyntax::Fallback;
  AlertmanagerGlobal global;
  std::vector<std::string>* warnings = nullptr;
};

Status read_alertmanager_global(const base::YamlNode& node, AlertmanagerContext& context);
Status read_route(const base::YamlNode& node, const AlertmanagerContext& context,
                  notify::RouteConfig& out);
Status read_inhibit_rule(const base::YamlNode& node, const AlertmanagerContext& context,
                         notify::InhibitRuleConfig& out);
Status read_time_intervals(const base::YamlNode& node, std::string_view kind,
                           std::vector<notify::NamedTimeInterval>& out);
Status read_receiver(const base::YamlNode& node, const AlertmanagerContext& context,
                     notify::ReceiverConfig& out);

// Reads one list `key` of receiver sections, such as slack_configs.
using ReadIntegration = Status (*)(const base::YamlNode& node, const AlertmanagerContext& context,
                                   std::vector<notify::IntegrationConfig>& out);
struct IntegrationReader {
  std::string_view key, title;  // "slack_configs", "slack"
  ReadIntegration read;
};
// All of them, in the order Alertmanager runs them; two files hold the functions.
std::vector<IntegrationReader> integration_readers();
Status read_email(const base::YamlNode&, const AlertmanagerContext&,
                  std::vector<notify::IntegrationConfig>&);
Status read_slack(const base::YamlNode&, const AlertmanagerContext&,
                  std::vector<notify::IntegrationConfig>&);
Status read_pagerduty(const base::YamlNode&, const AlertmanagerContext&,
                      std::vector<notify::IntegrationConfig>&);
Status read_opsgenie(const base::YamlNode&, const AlertmanagerContext&,
                     std::vector<notify::IntegrationConfig>&);
Status read_mattermost(const base::YamlNode&, const AlertmanagerContext&,
                       std::vector<notify::IntegrationConfig>&);
Status read_rocketchat(const base::YamlNode&, const AlertmanagerContext&,
                       std::vector<notify::IntegrationConfig>&);
Status read_jira(const base::YamlNode&, const AlertmanagerContext&,
                 std::vector<notify::IntegrationConfig>&);
Status read_sns(const base::YamlNode&, const AlertmanagerContext&,
                std::vector<notify::IntegrationConfig>&);
Status read_telegram(const base::YamlNode&, const AlertmanagerContext&,
                     std::vector<notify::IntegrationConfig>&);
Status read_wechat(const base::YamlNode&, const AlertmanagerContext&,
                   std::vector<notify::IntegrationConfig>&);

// The receiver's http_config; what it does not set comes from the global one.
void read_receiver_http(base::YamlFields& fields, const AlertmanagerContext& context,
                        net::HttpClientConfig& out);
// Complains unless the text is an http or https URL; "" and templates pass. `node` is the place.
Status check_url(const base::YamlNode& node, std::string_view url);
void read_url(base::YamlFields& fields, std::string_view key, std::string& out);
void read_url(base::YamlFields& fields, std::string_view key, Secret& out);
// The file's path made absolute.
void read_path(base::YamlFields& fields, const AlertmanagerContext& context, std::string_view key,
               std::string& out);
// "at most one of A & B must be configured" when both are set.
Status only_one(const base::YamlNode& node, bool a, bool b, std::string_view names);
// A tree of any shape as JSON, scalars typed as YAML has them.
std::string yaml_to_json(const base::YamlNode& node);
// "host:port", "[v6]:port", ":port".
Status split_host_port(const base::YamlNode& node, const std::string& text, std::string& host,
                       std::string& port);

// The whole file as YAML with secrets masked.
std::string masked_alertmanager_yaml(const base::YamlNode& root);

}  // namespace vagt::config

// A whole alertmanager.yml as notify uses it. Loading and validation are config's.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "notify/inhibit.h"
#include "notify/mute_time.h"
#include "notify/receivers/discord.h"
#include "notify/receivers/email.h"
#include "notify/receivers/exec.h"
#include "notify/receivers/incidentio.h"
#include "notify/receivers/jira.h"
#include "notify/receivers/matrix.h"
#include "notify/receivers/mattermost.h"
#include "notify/receivers/msteams.h"
#include "notify/receivers/ntfy.h"
#include "notify/receivers/opsgenie.h"
#include "notify/receivers/pagerduty.h"
#include "notify/receivers/pushover.h"
#include "notify/receivers/rocketchat.h"
#include "notify/receivers/slack.h"
#include "notify/receivers/sns.h"
#include "notify/receivers/stdout.h"
#include "notify/receivers/telegram.h"
#include "notify/receivers/victorops.h"
#include "notify/receivers/webex.h"
#include "notify/receivers/webhook.h"
#include "notify/receivers/wechat.h"
#include "notify/route.h"

namespace vagt::notify {

using IntegrationConfig =
    std::variant<WebhookConfig, EmailConfig, PagerdutyConfig, OpsgenieConfig, WechatConfig,
                 SlackConfig, VictoropsConfig, PushoverConfig, SnsConfig, TelegramConfig,
                 DiscordConfig, WebexConfig, MsteamsConfig, MsteamsV2Config, JiraConfig,
                 RocketchatConfig, MattermostConfig, IncidentioConfig, NtfyConfig, MatrixConfig,
                 StdoutConfig, ExecConfig>;
// "webhook", "email", …: the type's name in metrics and in the notification log.
std::string_view integration_name(const IntegrationConfig& config);
bool sends_resolved(const IntegrationConfig& config);
std::unique_ptr<Notifier> make_notifier(const IntegrationConfig& config);
// (field, template) of every templated text, for checks. HTML ones included.
std::vector<std::pair<std::string, std::string>> templated_fields(const IntegrationConfig& config);

struct ReceiverConfig {
  std::string name;
  std::map<std::string, std::string> labels;    // "name" included
  std::vector<IntegrationConfig> integrations;  // by type, in the order of the variant
};

struct Config {
  Duration resolve_timeout = std::chrono::minutes(5);
  RouteConfig route;
  std::vector<ReceiverConfig> receivers;
  std::vector<InhibitRuleConfig> inhibit_rules;
  std::vector<NamedTimeInterval> time_intervals;
  std::vector<std::string> templates;  // globs, absolute
  std::string text;                    // what /api/v2/status shows: the file with secrets masked
  std::vector<std::string> warnings;   // each with its place; loaded all the same
};

}  // namespace vagt::notify

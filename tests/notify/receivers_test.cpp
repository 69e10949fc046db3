// One suite for all receivers: what they send, what they make of answers, that no secret leaks.
#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "notify/notify_config.h"
#include "notify/receivers/jira_answers.h"
#include "tests/support/status_matchers.h"

namespace vagt::notify {
namespace {

using test::IsOk;
using testing::HasSubstr;
using testing::Not;

const std::string kSecret = "s3cr3t-t0ken";

Notification sample(bool firing = true, size_t alerts = 1) {
  Notification n;
  n.receiver = "ops.team";
  n.group_key = R"({}:{alertname="GpuHot"})";
  n.group_labels = Labels::of({{"alertname", "GpuHot"}});
  n.external_url = "http://am.example";
  n.reason = NotifyReason::First;
  n.now = from_millis(1'700'000'000'000);
  for (size_t i = 0; i < alerts; ++i) {
    NotifyAlert a;
    a.labels =
        Labels::of({{"alertname", "GpuHot"}, {"gpu", std::to_string(i)}, {"severity", "critical"}});
    a.annotations = {{"summary", "GPU is <hot> & loud"}};
    a.starts_at = n.now;
    a.ends_at = n.now + std::chrono::hours(1);
    n.alerts.push_back({std::make_shared<const NotifyAlert>(a), firing});
  }
  return n;
}

// Every receiver, configured as little as it allows.
std::vector<IntegrationConfig> everything() {
  std::vector<IntegrationConfig> out;
  WebhookConfig webhook;
  webhook.url = Secret("http://h.example/" + kSecret);
  out.emplace_back(webhook);
  EmailConfig email;
  email.to = "a@x.example";
  email.from = "vagt@x.example";
  email.smarthost_host = "mail.example";
  email.smarthost_port = "25";
  email.auth_password = Secret(kSecret);
  out.emplace_back(email);
  PagerdutyConfig pagerduty;
  pagerduty.routing_key = Secret(kSecret);
  pagerduty.details = {{"n", "{{ len .Alerts.Firing }}"}, {"plain", "a b"}};
  out.emplace_back(pagerduty);
  OpsgenieConfig opsgenie;
  opsgenie.api_key = Secret(kSecret);
  opsgenie.api_url = "http://og.example/";
  out.emplace_back(opsgenie);
  WechatConfig wechat;
  wechat.api_secret = Secret(kSecret);
  wechat.api_url = "http://wc.example/";
  wechat.corp_id = "corp";
  out.emplace_back(wechat);
  SlackConfig slack;
  slack.api_url = Secret("http://slack.example/" + kSecret);
  slack.channel = "#gpu";
  out.emplace_back(slack);
  VictoropsConfig victorops;
  victorops.api_key = Secret(kSecret);
  victorops.api_url = "http://vo.example/";
  victorops.routing_key = "rk";
  out.emplace_back(victorops);
  PushoverConfig pushover;
  pushover.user_key = pushover.token = Secret(kSecret);
  out.emplace_back(pushover);
  SnsConfig sns;
  sns.topic_arn = "arn:aws:sns:eu-north-1:1:t";
  sns.access_key = "AK";
  sns.secret_key = Secret(kSecret);
  sns.region = "eu-north-1";
  out.emplace_back(sns);
  TelegramConfig telegram;
  telegram.bot_token = Secret(kSecret);
  telegram.chat_id = 42;
  out.emplace_back(telegram);
  DiscordConfig discord;
  discord.webhook_url = Secret("http://d.example/" + kSecret);
  out.emplace_back(discord);
  WebexConfig webex;
  webex.room_id = "room";
  out.emplace_back(webex);
  MsteamsConfig msteams;
  msteams.webhook_url = Secret("http://t.example/" + kSecret);
  out.emplace_back(msteams);
  MsteamsV2Config msteams2;
  msteams2.webhook_url = Secret("http://t2.example/" + kSecret);
  out.emplace_back(msteams2);
  JiraConfig jira;
  jira.api_url = "http://jira.example/rest/api/2";
  jira.project = "GPU";
  jira.issue_type = "Bug";
  jira.reopen_transition = "Reopen";
  out.emplace_back(jira);
  RocketchatConfig rocketchat;
  rocketchat.token = rocketchat.token_id = Secret(kSecret);
  rocketchat.channel = "#gpu";
  out.emplace_back(rocketchat);
  MattermostConfig mattermost;
  mattermost.webhook_url = Secret("http://mm.example/" + kSecret);
  out.emplace_back(mattermost);
  IncidentioConfig incidentio;
  incidentio.url = Secret("http://i.example/");
  incidentio.alert_source_token = Secret(kSecret);
  out.emplace_back(incidentio);
  NtfyConfig ntfy;
  ntfy.topic = "gpu";
  ntfy.token = Secret(kSecret);
  out.emplace_back(ntfy);
  MatrixConfig matrix;
  matrix.homeserver_url = "http://m.example";
  matrix.room_id = "!r:m.example";
  matrix.access_token = Secret(kSecret);
  out.emplace_back(matrix);
  out.emplace_back(StdoutConfig());
  ExecConfig exec;
  exec.command = {"/bin/page"};
  out.emplace_back(exec);
  return out;
}

class Receivers : public testing::Test {
 protected:
  void SetUp() override {
    auto loaded = TemplateLibrary::load({});
    ASSERT_THAT(loaded, IsOk());
    library = *loaded;
  }
  Result<TransferRequest> render(const IntegrationConfig& config, const Notification& n) {
    Renderer r(*library, n);
    return make_notifier(config)->render(n, r);
  }
  std::string body(const IntegrationConfig& config, const Notification& n) {
    auto request = render(config, n);
    EXPECT_THAT(request, IsOk());
    if (!request.ok()) return {};
    if (const auto* http = std::get_if<net::HttpRequest>(&request->body)) return http->body;
    if (const auto* mail = std::get_if<net::SmtpRequest>(&request->body)) return mail->message;
    return {};
  }
  std::shared_ptr<const TemplateLibrary> library;
};

TEST_F(Receivers, AllRenderAndWhatIsJsonIsJson) {
  ASSERT_EQ(everything().size(), std::variant_size_v<IntegrationConfig>)
      << "a receiver lacks its test";
  for (const IntegrationConfig& config : everything()) {
    SCOPED_TRACE(integration_name(config));
    for (const bool firing : {true, false}) {
      const auto request = render(config, sample(firing));
      ASSERT_THAT(request, IsOk());
      const auto* http = std::get_if<net::HttpRequest>(&request->body);
      if (http == nullptr || http->body.empty() || http->body[0] != '{') continue;
      boost::system::error_code error;
      boost::json::parse(http->body, error);
      EXPECT_FALSE(error) << http->body;
    }
  }
}

TEST_F(Receivers, JudgeRetriesWhatMayPass) {
  for (const IntegrationConfig& config : everything()) {
    if (std::holds_alternative<StdoutConfig>(config) ||
        std::holds_alternative<ExecConfig>(config) || std::holds_alternative<EmailConfig>(config)) {
      continue;
    }
    SCOPED_TRACE(integration_name(config));
    const auto notifier = make_notifier(config);
    TransferReply reply;
    reply.headers = {{"Content-Type", "text/plain"}, {"Retry-After", "7"}};
    reply.body = "ok";
    reply.status = 200;
    EXPECT_EQ(notifier->judge(reply).result, SendResult::Sent);
    reply.status = 503;
    EXPECT_EQ(notifier->judge(reply).result, SendResult::Retry);
    EXPECT_EQ(notifier->judge(reply).reason, "serverError");
    EXPECT_EQ(notifier->judge(reply).retry_after, std::chrono::seconds(7));
    reply.status = 401;
    EXPECT_EQ(notifier->judge(reply).result, SendResult::Reject);
    EXPECT_EQ(notifier->judge(reply).reason, "authError");
    reply.failure = Status(Code::Unavailable, "connection refused");
    EXPECT_EQ(notifier->judge(reply).result, SendResult::Retry);
  }
}

TEST_F(Receivers, FailuresNameNoSecret) {
  for (const IntegrationConfig& config : everything()) {
    SCOPED_TRACE(integration_name(config));
    const auto notifier = make_notifier(config);
    TransferReply reply;
    reply.status = 400;
    reply.body = "bad request";
    EXPECT_THAT(notifier->judge(reply).detail, Not(HasSubstr(kSecret)));
  }
}

TEST_F(Receivers, ABrokenTemplateNeverLosesThePage) {
  const Notification n = sample();
  for (const IntegrationConfig& config : everything()) {
    for (const auto& [field, text] : templated_fields(config)) {
      if (field != "title" && field != "text" && field != "message" && field != "description" &&
          field != "html")
        continue;
      SCOPED_TRACE(std::string(integration_name(config)) + " " + field);
      Renderer r(*library, n);
      EXPECT_THAT(r.text(field, "{{ .NoSuch }}"), HasSubstr("GpuHot"));
      EXPECT_EQ(r.errors().size(), 1u);
    }
  }
}

TEST_F(Receivers, PlainModeUsesNoTemplate) {
  Notification n = sample();
  n.plain_note = "REFUSED";
  for (const IntegrationConfig& config : everything()) {
    if (std::holds_alternative<SlackConfig>(config) ||
        std::holds_alternative<DiscordConfig>(config) ||
        std::holds_alternative<NtfyConfig>(config) ||
        std::holds_alternative<MsteamsConfig>(config)) {
      EXPECT_THAT(body(config, n), HasSubstr("REFUSED")) << integration_name(config);
    }
  }
}

TEST_F(Receivers, PagerdutyDetailsBecomeStructure) {
  const auto configs = everything();
  const std::string text = body(configs[2], sample());
  EXPECT_THAT(text, HasSubstr(R"("n":1)"));
  EXPECT_THAT(text, HasSubstr(R"("plain":"a b")"));
  EXPECT_THAT(text, HasSubstr(hashed_key(sample().group_key)));
}

TEST_F(Receivers, PagerdutyDropsDetailsThatAreTooLarge) {
  PagerdutyConfig config;
  config.routing_key = Secret("k");
  config.details = {{"odd", "# no comment"}};
  EXPECT_THAT(body(config, sample()), HasSubstr(R"("odd":"# no comment")"));
  config.details = {{"big", std::string(600'000, 'x')}};
  const std::string text = body(config, sample());
  EXPECT_THAT(text, HasSubstr("exceeds the maximum size of 512KB"));
  EXPECT_LT(text.size(), 10'000u);
}

TEST_F(Receivers, WebhookPayloadReplacesTheBody) {
  WebhookConfig config;
  config.url = Secret("http://h.example/{{ .Status }}");
  config.payload =
      R"({"text":"{{ .Status }} {{ .CommonLabels.gpu }}","n":1,"list":["{{ .Receiver }}"]})";
  const auto request = render(config, sample());
  ASSERT_THAT(request, IsOk());
  const auto& http = std::get<net::HttpRequest>(request->body);
  EXPECT_EQ(http.url.reveal(), "http://h.example/firing");
  EXPECT_EQ(http.body, R"({"text":"firing 0","n":1,"list":["ops\\.team"]})");
}

TEST_F(Receivers, SlackEditsItsMessage) {
  SlackConfig config;
  config.app_token = Secret(kSecret);
  config.app_url = "https://slack.com/api/chat.postMessage";
  config.channel = "#gpu";
  config.update_message = true;
  const auto notifier = make_notifier(config);
  Notification n = sample();
  TransferReply reply;
  reply.status = 200;
  reply.headers = {{"Content-Type", "application/json; charset=utf-8"}};
  reply.body = R"({"ok":true,"ts":"17.1","channel":"C1"})";
  EXPECT_EQ(notifier->judge(reply).result, SendResult::Sent);
  n.receiver_data = notifier->receiver_data(n, std::span(&reply, 1));
  Renderer r(*library, n);
  const auto second = notifier->render(n, r);
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(std::get<net::HttpRequest>(second->body).url.reveal(),
            "https://slack.com/api/chat.update");
  EXPECT_THAT(std::get<net::HttpRequest>(second->body).body, HasSubstr(R"("ts":"17.1")"));
  reply.body = R"({"ok":false,"error":"channel_not_found"})";
  EXPECT_EQ(notifier->judge(reply).result, SendResult::Reject);
  EXPECT_THAT(notifier->judge(reply).detail, HasSubstr("channel_not_found"));
}

TEST_F(Receivers, JiraWalksItsSteps) {
  JiraConfig config = std::get<JiraConfig>(everything()[14]);
  const auto notifier = make_notifier(config);
  const Notification n = sample();
  Renderer r(*library, n);
  std::vector<TransferReply> replies(1);
  replies[0].body = R"({"issues":[]})";
  auto next = notifier->follow_up(n, r, replies);
  ASSERT_THAT(next, IsOk());
  ASSERT_TRUE(next->has_value());
  EXPECT_EQ(std::get<net::HttpRequest>((*next)->body).url.reveal(),
            "http://jira.example/rest/api/2/issue");
  replies[0].body =
      R"({"issues":[{"key":"GPU-1","fields":{"status":{"statusCategory":{"key":"done"}}}}]})";
  next = notifier->follow_up(n, r, replies);
  EXPECT_EQ(std::get<net::HttpRequest>((*next)->body).method, "PUT");
  replies.resize(2);
  next = notifier->follow_up(n, r, replies);
  EXPECT_EQ(std::get<net::HttpRequest>((*next)->body).method, "GET");
  replies.emplace_back().body = R"({"transitions":[{"id":"7","name":"Reopen"}]})";
  next = notifier->follow_up(n, r, replies);
  EXPECT_EQ(std::get<net::HttpRequest>((*next)->body).body, R"({"transition":{"id":"7"}})");
  replies.emplace_back();
  EXPECT_FALSE((*notifier->follow_up(n, r, replies)).has_value());
  EXPECT_EQ(transition_id("rubbish", "x"), "");
}

TEST_F(Receivers, WechatAsksForATokenOnce) {
  const auto notifier = make_notifier(everything()[4]);
  const Notification n = sample();
  Renderer r(*library, n);
  auto first = notifier->render(n, r);
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(std::get<net::HttpRequest>(first->body).url.reveal(), HasSubstr("gettoken"));
  std::vector<TransferReply> replies(1);
  replies[0].status = 200;
  replies[0].body = R"({"access_token":"T","expires_in":7200})";
  auto message = notifier->follow_up(n, r, replies);
  ASSERT_THAT(message, IsOk());
  EXPECT_THAT(std::get<net::HttpRequest>((*message)->body).url.reveal(),
              HasSubstr("message/send?access_token=T"));
  auto again = notifier->render(n, r);
  EXPECT_THAT(std::get<net::HttpRequest>(again->body).url.reveal(), HasSubstr("message/send"));
}

}  // namespace
}  // namespace vagt::notify

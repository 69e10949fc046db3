// alertmanager.yml: places and words of faults, what is inherited, what is masked, what is warned
// of.
#include <gmock/gmock.h>

#include "config/alertmanager_config.h"
#include "tests/support/status_matchers.h"

namespace vagt::config {
namespace {

using test::IsOk;
using test::StatusIs;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Result<notify::Config> parse(std::string_view text) {
  return parse_alertmanager_config(text, "/etc/vagt/alertmanager.yml");
}

constexpr std::string_view kGood = R"(
global:
  resolve_timeout: 7m
  smtp_smarthost: 'mail.example:587'
  smtp_from: vagt@example.org
  smtp_auth_password: hush-hush
  slack_api_url: https://hooks.example/T0/hush-slack
  http_config: {proxy_url: 'http://proxy:3128'}
templates: ['t/*.tmpl']
route:
  receiver: all
  group_by: [alertname]
  repeat_interval: 7s
  group_interval: 5s
  routes:
  - matchers: ['severity="page"', 'team=~"gpu|net"']
    receiver: pager
    continue: true
  - match: {code: 500}
    mute_time_intervals: [nights]
receivers:
- name: all
  email_configs: [{to: a@x.example, headers: {subject: Hi}}]
  slack_configs: [{channel: '#gpu', http_config: {follow_redirects: false}}]
- name: pager
  pagerduty_configs: [{routing_key: hush-pd, details: {a: b, deep: {n: 1, t: '{{ .Status }}'}}}]
  webhook_configs: [{url: 'http://h.example/hush-hook'}]
- name: spare
  stdout_configs: [{}]
time_intervals:
- name: nights
  time_intervals: [{times: [{start_time: '00:00', end_time: '06:00'}], location: Europe/Copenhagen}]
inhibit_rules:
- {source_matchers: [alertname=NodeDown], target_matchers: [severity=warning], equal: [node]}
)";

TEST(AlertmanagerConfig, ReadsAndCompletes) {
  const auto config = parse(kGood);
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->resolve_timeout, std::chrono::minutes(7));
  EXPECT_THAT(config->templates, testing::ElementsAre("/etc/vagt/t/*.tmpl"));
  ASSERT_EQ(config->receivers.size(), 3u);
  const auto& email = std::get<notify::EmailConfig>(config->receivers[0].integrations[0]);
  EXPECT_EQ(email.smarthost_host, "mail.example");
  EXPECT_EQ(email.from, "vagt@example.org");
  EXPECT_EQ(email.headers[0].first, "Subject");
  const auto& slack = std::get<notify::SlackConfig>(config->receivers[0].integrations[1]);
  EXPECT_EQ(slack.http.proxy_url, "http://proxy:3128");
  EXPECT_FALSE(slack.http.follow_redirects);
  const auto& pagerduty = std::get<notify::PagerdutyConfig>(config->receivers[1].integrations[1]);
  EXPECT_EQ(pagerduty.details.size(), 5u);
  EXPECT_EQ(pagerduty.nested_details.at("deep"), R"({"n":1,"t":"{{ .Status }}"})");
  ASSERT_EQ(config->route.routes.size(), 2u);
  EXPECT_EQ(config->route.routes[0].matchers.size(), 2u);
  EXPECT_EQ(config->route.routes[1].matchers[0].value(), "500");
}

TEST(AlertmanagerConfig, ShowsNoSecret) {
  const auto config = parse(kGood);
  ASSERT_THAT(config, IsOk());
  EXPECT_THAT(config->text, Not(HasSubstr("hush")));
  EXPECT_THAT(config->text, HasSubstr("<secret>"));
  EXPECT_THAT(config->text, HasSubstr("repeat_interval: 7s"));
  EXPECT_THAT(parse(config->text), IsOk()) << config->text;
}

TEST(AlertmanagerConfig, NamesThePlace) {
  const auto fault = [](std::string_view text, std::string_view what) {
    EXPECT_THAT(parse(text), StatusIs(Code::InvalidArgument, std::string(what)));
  };
  fault("route: {receiver: r, group_wiat: 5s}\nreceivers: [{name: r}]", "alertmanager.yml:1:");
  fault("route: {receiver: r, group_wiat: 5s}\nreceivers: [{name: r}]", "group_wait");
  fault("route: {receiver: r}\nreceivers:\n- name: r\n  slack_configs: [{channel: x}]",
        "alertmanager.yml:4:");
  fault("route: {receiver: nope}\nreceivers: [{name: r}]",
        R"(undefined receiver "nope" used in route)");
  fault("receivers: [{name: r}]", "no route provided in config");
  fault("", "alertmanager.yml:1:1: no route provided in config");
  fault("route: {receiver: r, routes: [{matchers: ['a=~[']}]}\nreceivers: [{name: r}]",
        "alertmanager.yml:1:");
  fault("route: {receiver: r}\nreceivers: [{name: r, webhook_configs: [{url: 'ftp://x'}]}]",
        R"(unsupported scheme "ftp" for URL)");
  fault("route: {receiver: r}\nreceivers:\n- name: r\n  webhook_configs:\n  -\n",
        "missing webhook config");
  fault(
      "route: {receiver: r}\nreceivers:\n- name: r\n  ntfy_configs:\n"
      "  - {url: 'http://x', topic: gpu, token: t, token_file: /t}\n",
      "at most one of token & token_file must be configured");
}

TEST(AlertmanagerConfig, FindsWhatWouldNotPageAsMeant) {
  const auto config = parse(kGood);
  ASSERT_THAT(config, IsOk());
  const auto findings = check_alertmanager_config(*config);
  EXPECT_THAT(findings.errors, testing::IsEmpty());
  EXPECT_THAT(findings.warnings, Contains(HasSubstr("repeats come every 10s")));
  EXPECT_THAT(findings.warnings, Contains(HasSubstr(R"(receiver "spare": no route leads to it)")));
  EXPECT_THAT(findings.hints, Contains(HasSubstr(R"(a source without the label "node")")));
  EXPECT_THAT(findings.warnings, Not(Contains(HasSubstr("a source without"))))
      << "most files have it: nothing to log at every start";
  auto joined = *config;
  joined.inhibit_rules[0].equal = {"alertname", "node"};
  EXPECT_THAT(check_alertmanager_config(joined).hints, testing::IsEmpty());
  auto broken = *config;
  std::get<notify::SlackConfig>(broken.receivers[0].integrations[1]).title =
      R"({{ template "no.such.name" . }})";
  EXPECT_THAT(check_alertmanager_config(broken).errors,
              Contains(testing::AllOf(HasSubstr(R"(receiver "all")"), HasSubstr("title"),
                                      HasSubstr("no.such.name"))));
  const auto quiet = parse("route: {receiver: r}\nreceivers: [{name: r}]");
  EXPECT_THAT(check_alertmanager_config(*quiet).warnings,
              Contains(HasSubstr("nobody will be paged")));
}

}  // namespace
}  // namespace vagt::config

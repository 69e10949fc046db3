#include "engine/alert_fanout.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/status_matchers.h"

namespace vagt::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Recorder final : public AlertSink {
 public:
  void publish(std::span<const Alert> alerts) override {
    for (const Alert& alert : alerts) seen.push_back(alert.labels.to_string());
  }
  std::vector<std::string> seen;
};

class AlertFanoutTest : public ::testing::Test {
 protected:
  void configure(const std::string& yaml) {
    const auto config = config::parse_prometheus_config(yaml, "/etc/vagt/prometheus.yml");
    ASSERT_THAT(config, test::IsOk());
    auto settings = AlertFanout::prepare(*config);
    ASSERT_THAT(settings, test::IsOk());
    fanout_.apply(std::move(settings).value(), &builtin_);
  }
  void publish(Labels labels) {
    Alert alert;
    alert.labels = std::move(labels);
    fanout_.publish({&alert, 1});
  }

  // Whether the Alertmanagers become these, in time.
  bool becomes(const std::vector<std::string>& urls) {
    for (int i = 0; i < 5000 && external_.urls() != urls; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return external_.urls() == urls;
  }

  Recorder builtin_;
  base::Registry registry_;
  notify::ExternalAlertmanagers external_{{}};
  AlertFanout fanout_{{}, external_, registry_};
};

TEST_F(AlertFanoutTest, NothingLeavesBeforeTheFirstConfiguration) {
  publish(Labels::of({{"alertname", "A"}}));
  EXPECT_THAT(builtin_.seen, IsEmpty());
}

// The rules have added them; twice would undo a relabelling that takes them away.
TEST_F(AlertFanoutTest, ExternalLabelsAreTheRulesBusiness) {
  configure("global: {external_labels: {site: cph}}\n");
  publish(Labels::of({{"alertname", "A"}}));
  EXPECT_THAT(builtin_.seen, ElementsAre("{alertname=\"A\"}"));
}

TEST_F(AlertFanoutTest, RelabellingChangesAndDrops) {
  configure(
      "alerting:\n"
      "  alert_relabel_configs:\n"
      "    - {action: labeldrop, regex: replica}\n"
      "    - {action: drop, source_labels: [alertname], regex: Noise}\n");
  publish(Labels::of({{"alertname", "A"}, {"replica", "1"}}));
  publish(Labels::of({{"alertname", "Noise"}}));
  EXPECT_THAT(builtin_.seen, ElementsAre("{alertname=\"A\"}"));
}

TEST_F(AlertFanoutTest, AddressesBecomeUrlsOnceEach) {
  configure(
      "alerting:\n"
      "  alertmanagers:\n"
      "    - {scheme: https, path_prefix: /am/, static_configs: [{targets: ['a:9093', 'a:9093', "
      "'b:9093']}],\n"
      "       relabel_configs: [{action: drop, source_labels: [__address__], regex: 'b:.*'}]}\n");
  EXPECT_THAT(external_.urls(), ElementsAre("https://a:9093/am/api/v2/alerts"));
}

TEST_F(AlertFanoutTest, AlertmanagersAreDiscovered) {
  const std::string file = ::testing::TempDir() + "ams." + std::to_string(::getpid()) + ".yml";
  const auto write = [&file](const std::string& text) {
    std::ofstream(file + ".new") << text;
    std::filesystem::rename(file + ".new", file);
  };
  const std::string yaml =
      "alerting:\n"
      "  alertmanagers:\n"
      "    - {static_configs: [{targets: ['s:9093']}], file_sd_configs: [{files: ['" +
      file +
      "']}],\n"
      "       relabel_configs: [{source_labels: [zone], regex: b, action: drop}]}\n";
  write("[{targets: ['a:9093']}, {targets: ['b:9093'], labels: {zone: b}}]");
  configure(yaml);
  EXPECT_TRUE(becomes({"http://s:9093/api/v2/alerts", "http://a:9093/api/v2/alerts"}));
  // What is discovered and is no address is passed over.
  write("[{targets: ['c:9093', 'd:9093/am']}]");
  EXPECT_TRUE(becomes({"http://s:9093/api/v2/alerts", "http://c:9093/api/v2/alerts"}));
  write("[{");  // malformed: the last ones stay, also through a reload
  configure(yaml + "  alert_relabel_configs: [{action: labeldrop, regex: replica}]\n");
  EXPECT_TRUE(becomes({"http://s:9093/api/v2/alerts", "http://c:9093/api/v2/alerts"}));
  std::filesystem::remove(file);
  EXPECT_TRUE(becomes({"http://s:9093/api/v2/alerts"}));
  configure("alerting: {}\n");
  EXPECT_THAT(external_.urls(), IsEmpty());
}

TEST_F(AlertFanoutTest, AnAddressWithAPathIsRefused) {
  const auto config = config::parse_prometheus_config(
      "alerting: {alertmanagers: [{static_configs: [{targets: ['a:9093/am']}]}]}\n", "p.yml");
  EXPECT_THAT(config, test::StatusIs(Code::InvalidArgument, "is not a valid hostname"));
}

}  // namespace
}  // namespace vagt::engine

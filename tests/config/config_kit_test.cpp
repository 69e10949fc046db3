// Every prometheus.yml of the shared conformance kit: refused with Prometheus's words, or loaded.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "config/prometheus_config.h"

namespace vagt::config {
namespace {

std::string shared_folder() {
  const char* shared = std::getenv("VAGT_SHARED");
  return shared != nullptr ? shared : VAGT_SOURCE_DIR "/../shared";
}

struct Refusal {
  std::string text;
  bool agent_mode = false;
};

std::map<std::string, Refusal> read_refusals(const std::string& path) {
  std::map<std::string, Refusal> refusals;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // header
  while (std::getline(file, line)) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    refusals[line.substr(0, first)] = {line.substr(first + 1, second - first - 1),
                                       line.find("agent mode only") != std::string::npos};
  }
  return refusals;
}

// Named good, yet it holds job "node" twice, in the file and in one it includes: what
// *_duplicate.bad.yml is refused for.
const std::string kTwiceNode = "scrape_config_files_combined.good.yml";

TEST(ConfigKit, EveryFileIsJudgedAsPrometheusDoes) {
  const std::string kit = shared_folder() + "/conformance/config/";
  if (!std::filesystem::exists(kit + "errors.tsv"))
    GTEST_SKIP() << "no conformance kit: set VAGT_SHARED";
  const auto refusals = read_refusals(kit + "errors.tsv");
  size_t good = 0, bad = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kit + "testdata")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".yml") || name == kTwiceNode) continue;
    const auto refusal = refusals.find(name);
    LoadOptions options;
    options.agent_mode = refusal != refusals.end() && refusal->second.agent_mode;
    const auto config = load_prometheus_config(entry.path().string(), options);
    if (refusal == refusals.end() && !name.ends_with(".bad.yml")) {
      EXPECT_TRUE(config.ok()) << name << ": " << config.status().message();
      ++good;
      continue;
    }
    ++bad;
    ASSERT_FALSE(config.ok()) << name << " was accepted";
    const std::string want = refusal != refusals.end() ? refusal->second.text : "";
    EXPECT_THAT(config.error().message(), ::testing::HasSubstr(want)) << name;
    EXPECT_THAT(config.error().message(), ::testing::MatchesRegex("[^:]*\\.yml:[0-9]+:[0-9]+: .*"))
        << name;
  }
  EXPECT_EQ(good + bad, 147u);
}

TEST(ConfigKit, SeedConfigurationLoadsWordForWord) {
  const std::string path = shared_folder() + "/seed-config/prometheus.yml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no seed configuration: set VAGT_SHARED";
  const auto config = load_prometheus_config(path);
  ASSERT_TRUE(config.ok()) << config.error().message();
  EXPECT_EQ(config->scrape_configs.size(), 5u);
  EXPECT_EQ(config->global.scrape_interval, std::chrono::seconds(15));
  EXPECT_EQ(config->rule_files, std::vector<std::string>{"/etc/prometheus/rules/*.yml"});
  ASSERT_EQ(config->alerting.alertmanagers.size(), 1u);
  EXPECT_EQ(
      config->alerting.alertmanagers[0].discovery.static_groups[0].targets[0].at("__address__"),
      "alertmanager:9093");
  EXPECT_TRUE(config->notices.empty());
}

}  // namespace
}  // namespace vagt::config

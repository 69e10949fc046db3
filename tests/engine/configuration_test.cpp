#include "engine/configuration.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/status_matchers.h"

namespace vagt::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("configuration.") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    flags_.config_file = path("prometheus.yml");
  }
  ~ConfigurationTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }

  std::filesystem::path folder_;
  Flags flags_;
};

TEST_F(ConfigurationTest, EveryFaultOfTheRulesIsNamedWithItsPlace) {
  write("prometheus.yml", "rule_files: ['*.rules.yml']\n");
  write("a.rules.yml", "groups: [{name: g, rules: [{alert: A, expr: 'up =='}]}]\n");
  write("b.rules.yml",
        "groups:\n  - name: g\n    rules:\n      - alert: B\n        expr: 'sum('\n");
  const auto loaded = load_configuration(flags_);
  ASSERT_THAT(loaded, test::StatusIs(Code::InvalidArgument));
  EXPECT_THAT(loaded.error().message(), HasSubstr("a.rules.yml:1"));
  EXPECT_THAT(loaded.error().message(), HasSubstr("b.rules.yml:5"));
}

TEST_F(ConfigurationTest, TheFlagNamesTheAlertmanagerFileBeforeTheConfiguration) {
  write("prometheus.yml", "notify_file: from_file.yml\n");
  write("from_file.yml", "route: {receiver: a}\nreceivers: [{name: a}]\n");
  write("from_flag.yml", "route: {receiver: b}\nreceivers: [{name: b}]\n");
  EXPECT_EQ(load_configuration(flags_)->notify->receivers.at(0).name, "a");
  flags_.alertmanager_config = path("from_flag.yml");
  EXPECT_EQ(load_configuration(flags_)->notify->receivers.at(0).name, "b");
  flags_.alertmanager_config = path("missing.yml");
  const auto missing = load_configuration(flags_);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message(), HasSubstr("missing.yml"));
}

TEST_F(ConfigurationTest, FeaturesWithoutEffectAreNamed) {
  flags_.features = {"classic-mode", "exemplar-storage", "flying"};
  EXPECT_THAT(feature_notices(flags_),
              ElementsAre("--enable-feature=exemplar-storage has no effect here",
                          "--enable-feature=flying is not known"));
}

}  // namespace
}  // namespace vagt::engine

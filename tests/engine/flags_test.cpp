#include "engine/flags.h"

#include <gmock/gmock.h>

namespace vagt::engine {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::variant<Flags, EarlyExit> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "vagtd");
  return parse_flags(static_cast<int>(arguments.size()), arguments.data());
}
Flags good(std::vector<const char*> arguments) {
  return std::get<Flags>(parse(std::move(arguments)));
}
EarlyExit bad(std::vector<const char*> arguments) {
  return std::get<EarlyExit>(parse(std::move(arguments)));
}

TEST(Flags, DefaultsArePrometheuss) {
  const Flags flags = good({});
  EXPECT_EQ(flags.config_file, "prometheus.yml");
  EXPECT_FALSE(flags.plain_alertmanager());
  EXPECT_THAT(flags.listen_addresses, ElementsAre(":9090"));
  EXPECT_EQ(flags.lookback_delta, 5min);
  EXPECT_EQ(flags.texts.at("query.timeout"), "2m");
}

TEST(Flags, AlertmanagerConfigAloneIsAPlainAlertmanager) {
  EXPECT_TRUE(good({"--alertmanager.config=am.yml"}).plain_alertmanager());
  EXPECT_FALSE(good({"--alertmanager.config=am.yml", "--config.file=p.yml"}).plain_alertmanager());
}

TEST(Flags, ListenAddressIsRepeatable) {
  EXPECT_THAT(
      good({"--web.listen-address=:9090", "--web.listen-address=127.0.0.1:9093"}).listen_addresses,
      ElementsAre(":9090", "127.0.0.1:9093"));
}

TEST(Flags, BooleansHaveANegation) {
  EXPECT_TRUE(good({"--web.enable-lifecycle"}).enable_lifecycle);
  EXPECT_FALSE(good({"--web.enable-lifecycle", "--no-web.enable-lifecycle"}).enable_lifecycle);
  EXPECT_EQ(good({"--web.enable-lifecycle"}).texts.at("web.enable-lifecycle"), "true");
}

TEST(Flags, RetentionTakesTimeAndSize) {
  const Flags flags =
      good({"--storage.tsdb.retention.time=90y", "--storage.tsdb.retention.size=1GB"});
  EXPECT_EQ(flags.retention_time, 24h * 365 * 90);
  EXPECT_EQ(flags.retention_size, 1u << 30);
}

TEST(Flags, FeaturesAreListsAndRepeat) {
  const Flags flags = good({"--enable-feature=a,b", "--enable-feature=c"});
  EXPECT_TRUE(flags.has_feature("a") && flags.has_feature("b") && flags.has_feature("c"));
}

TEST(Flags, GosFlagsAreAcceptedAndNamed) {
  EXPECT_THAT(good({"--storage.tsdb.wal-compression", "--cluster.listen-address="}).without_effect,
              ElementsAre("--cluster.listen-address", "--storage.tsdb.wal-compression"));
}

TEST(Flags, ThePrefixFollowsTheExternalUrl) {
  EXPECT_EQ(good({}).route_prefix, "");
  const Flags flags = good({"--web.external-url=https://watch.example.org/prom/"});
  EXPECT_EQ(flags.external_url, "https://watch.example.org/prom");
  EXPECT_EQ(flags.route_prefix, "/prom");
  EXPECT_EQ(good({"--web.external-url=https://h/prom", "--web.route-prefix=/"}).route_prefix, "");
  EXPECT_EQ(good({"--web.route-prefix=am/"}).route_prefix, "/am");
  EXPECT_THAT(bad({"--web.external-url=watch.example.org"}).text, HasSubstr("--web.external-url"));
  EXPECT_THAT(bad({"--web.external-url=ftp://h"}).text, HasSubstr("http://"));
}

TEST(Flags, OneFolderHoldsTheStore) {
  EXPECT_EQ(good({"--alertmanager.config=am.yml", "--storage.path=am"}).storage_path, "am");
  const Flags both = good({"--storage.path=am", "--storage.tsdb.path=tsdb"});
  EXPECT_EQ(both.storage_path, "tsdb");
  EXPECT_THAT(both.without_effect, ElementsAre("--storage.path"));
}

TEST(Flags, TlsThatIsNotBuiltIsRefused) {
  EXPECT_EQ(good({"--web.config.file=web.yml"}).web_config_file, "web.yml");
  EXPECT_EQ(good({"--web.config.file="}).texts.at("web.config.file"), "");
}

TEST(Flags, MistakesNameTheFlag) {
  EXPECT_EQ(bad({"--query.timeout=soon"}).status, 2);
  EXPECT_THAT(bad({"--query.timeout=soon"}).text,
              HasSubstr("--query.timeout: not a valid duration string"));
  EXPECT_THAT(bad({"--query.max-samples=-1"}).text, HasSubstr("--query.max-samples"));
  EXPECT_THAT(bad({"--log.level=loud"}).text, HasSubstr("--log.level"));
  EXPECT_THAT(bad({"--nonsense"}).text, HasSubstr("nonsense"));
}

TEST(Flags, HelpAndVersionAreNotMistakes) {
  EXPECT_EQ(bad({"--help"}).status, 0);
  EXPECT_THAT(bad({"--help"}).text, HasSubstr("--storage.tsdb.path"));
  EXPECT_THAT(bad({"--version"}).text, HasSubstr("vagtd "));
}

}  // namespace
}  // namespace vagt::engine

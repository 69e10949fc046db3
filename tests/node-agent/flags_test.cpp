#include <gmock/gmock.h>

#include "node-agent/options.h"

namespace vagt::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Parsed {
  bool ok;
  Options options;
  Exit exit;
};
Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "vagt-agent");
  Parsed parsed;
  parsed.ok = parse_flags(static_cast<int>(arguments.size()), arguments.data(), parsed.options,
                          parsed.exit);
  return parsed;
}

TEST(Flags, Defaults) {
  const Parsed p = parse({});
  ASSERT_TRUE(p.ok) << p.exit.err;
  EXPECT_THAT(p.options.listen, ElementsAre(":9500"));
  EXPECT_THAT(p.options.collectors, Contains("cpu"));
  EXPECT_THAT(p.options.collectors, Not(Contains("interrupts")));
  EXPECT_FALSE(p.options.collect_once);
  EXPECT_FALSE(p.options.filters.disk_devices.keeps("loop7"));
  EXPECT_FALSE(p.options.filters.disk_devices.keeps("nvme0n1p2"));
  EXPECT_TRUE(p.options.filters.disk_devices.keeps("nvme0n1"));
  EXPECT_FALSE(p.options.filters.mount_points.keeps("/proc/x"));
  EXPECT_TRUE(p.options.filters.mount_points.keeps("/process"));
}

TEST(Flags, CollectorsOnAndOff) {
  EXPECT_THAT(parse({"--collector.disable-defaults", "--collector.cpu"}).options.collectors,
              ElementsAre("cpu"));
  const auto p = parse({"--no-collector.cpu", "--collector.interrupts"});
  EXPECT_THAT(p.options.collectors, Not(Contains("cpu")));
  EXPECT_THAT(p.options.collectors, Contains("interrupts"));
}

TEST(Flags, CollectTakesFlagsOnBothSides) {
  const auto p =
      parse({"--path.procfs=/x", "collect", "--collector.disable-defaults", "--collector.stat"});
  ASSERT_TRUE(p.ok) << p.exit.err;
  EXPECT_TRUE(p.options.collect_once);
  EXPECT_TRUE(p.options.sources.once);
  EXPECT_EQ(p.options.sources.procfs, "/x");
  EXPECT_THAT(p.options.collectors, ElementsAre("stat"));
}

TEST(Flags, RepeatedAddresses) {
  EXPECT_THAT(parse({"--web.listen-address=:1", "--web.listen-address=:2"}).options.listen,
              ElementsAre(":1", ":2"));
}

TEST(Flags, Mistakes) {
  EXPECT_THAT(parse({"--collector.nosuch"}).exit.err, HasSubstr("--collector.nosuch"));
  EXPECT_THAT(parse({"--collector.diskstats.device-exclude=("}).exit.err,
              HasSubstr("vagt-agent: "));
  EXPECT_THAT(parse({"--log.level=loud"}).exit.err, HasSubstr("loud"));
  EXPECT_EQ(parse({"--log.level=loud"}).exit.code, 1);
  EXPECT_THAT(parse({"--collector.filesystem.mount-timeout=5"}).exit.err,
              HasSubstr("not a valid duration string"));
}

TEST(Flags, HelpAndVersionAreNoMistake) {
  const auto help = parse({"--help"});
  EXPECT_FALSE(help.ok);
  EXPECT_EQ(help.exit.code, 0);
  EXPECT_THAT(help.exit.out, HasSubstr("--collector.disable-defaults"));
  EXPECT_THAT(parse({"--version"}).exit.out, HasSubstr("vagt-agent "));
}

}  // namespace
}  // namespace vagt::agent

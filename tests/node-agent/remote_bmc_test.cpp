// BMCs of other hosts, and pages with their times.
#include "node-agent/bmc/remote.h"

#include "node-agent/snapshot.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RemoteBmc, ArgumentsHoldNothingButAddresses) {
  BmcModule module;
  module.user = "monitor";
  module.password_file = "/etc/vagt/bmc";
  module.cipher_suite = 3;
  EXPECT_THAT(bmc_arguments("bmc-7.example", module).value(),
              ElementsAre("-I", "lanplus", "-H", "bmc-7.example", "-p", "623", "-L", "USER", "-U",
                          "monitor", "-f", "/etc/vagt/bmc", "-C", "3"));
  EXPECT_EQ(bmc_arguments("10.0.0.1:6230", module).value()[5], "6230");
  EXPECT_EQ(bmc_arguments("[fe80::1]:7", module).value()[3], "fe80::1");
  EXPECT_EQ(bmc_arguments("fe80::1", module).value()[3], "fe80::1");
  for (const char* bad : {"", "-f/etc/shadow", "a b", "h:0", "h:70000", "h:x", "[::1", "[::1]x",
                          "a;b", "../x", "h\n"})
    EXPECT_THAT(bmc_arguments(bad, module), StatusIs(Code::InvalidArgument)) << bad;
}

TEST(RemoteBmc, ModulesFromAFile) {
  FakeHost host;
  host.file("good",
            "# BMCs\n[default]\nuser = u\npassword_file=/p q\nprivilege = operator\n\n"
            "[old]\ninterface = lan\npsus_required = 2\ncipher_suite = 3\n");
  const auto modules = load_bmc_modules(host.path("good"));
  ASSERT_TRUE(modules.ok()) << modules.status().message();
  EXPECT_EQ(modules->at("default").privilege, "OPERATOR");
  EXPECT_EQ(modules->at("default").password_file, "/p q");
  EXPECT_EQ(modules->at("old").interface, "lan");
  EXPECT_EQ(modules->at("old").psus_required, 2);
  EXPECT_EQ(modules->at("old").cipher_suite, 3u);
  for (const char* bad :
       {"", "x = 1\n", "[a]\npass = x\n", "[a]\ninterface = serial\n", "[a]\nprivilege = root\n",
        "[a]\n[a]\n", "[a]\npsus_expected = -1\n", "[a]\ncipher_suite = x\n", "[a]\nuser\n"}) {
    host.file("bad", bad);
    EXPECT_THAT(load_bmc_modules(host.path("bad")), StatusIs(Code::InvalidArgument)) << bad;
  }
  EXPECT_THAT(load_bmc_modules(host.path("none")), StatusIs(Code::NotFound));
  host.file("bad", "[a]\nuser = u\nnonsense = 1\n");
  EXPECT_THAT(load_bmc_modules(host.path("bad")).status().message(),
              HasSubstr("bad:3: no such field: nonsense"));
}

TEST(RemoteBmc, RefusesWhatItDoesNotKnow) {
  FakeHost host;
  RemoteBmcs bmcs({{"default", BmcModule()}}, host.sources());
  Code code = Code::Ok;
  const auto note = [&code](Result<std::string> page) { code = page.status().code(); };
  bmcs.ask("10.0.0.1", "nosuch", false, note);
  EXPECT_EQ(code, Code::NotFound);
  bmcs.ask("-x", "default", false, note);
  EXPECT_EQ(code, Code::InvalidArgument);
}

TEST(Snapshot, EachSampleHasItsTime) {
  const std::string page = "# HELP a b\n# TYPE a gauge\na 1\na{x=\"2\"} 3\n";
  EXPECT_EQ(with_times(page, from_millis(5000), true),
            "# HELP a b\n# TYPE a gauge\na 1 5000\na{x=\"2\"} 3 5000\n");
  EXPECT_EQ(with_times(page, from_millis(5000), false), "a 1 5000\na{x=\"2\"} 3 5000\n");
  EXPECT_EQ(with_times("", from_millis(1), true), "");
}

}  // namespace
}  // namespace vagt::agent

#include "base/yaml.h"
#include "tests/support/status_matchers.h"

namespace vagt::base {
namespace {

using namespace std::chrono_literals;
using test::IsOk;
using test::StatusIs;
using ::testing::ElementsAre;
using ::testing::Pair;

YamlNode parse(std::string_view text) { return parse_yaml(text, "f.yml").value(); }

TEST(YamlFields, ReadsEveryKind) {
  const YamlNode node = parse(
      "s: text\nsecret: pass\nb: yes\ni: -3\nu: 4\nd: 0.5\nt: 15s\nsize: 1KB\n"
      "list: [a, 1]\nmap: {k: v}\nmaybe: 7\nnode: {x: 1}\n");
  std::string s;
  Secret secret;
  bool b = false;
  int64_t i = 0;
  uint64_t u = 0, size = 0;
  double d = 0;
  Duration t{};
  std::vector<std::string> list;
  std::map<std::string, std::string> map;
  std::optional<int64_t> maybe, absent;
  YamlFields f(node);
  f.read("s", s).read("secret", secret).read("b", b).read("i", i).read("u", u).read("d", d);
  f.read("t", t).read_bytes("size", size).read("list", list).read("map", map);
  f.read("maybe", maybe).read("absent", absent);
  ASSERT_NE(f.take("node"), nullptr);
  ASSERT_THAT(f.finish(), IsOk());
  EXPECT_EQ(s, "text");
  EXPECT_EQ(secret.reveal(), "pass");
  EXPECT_TRUE(b);
  EXPECT_EQ(i, -3);
  EXPECT_EQ(u, 4u);
  EXPECT_EQ(d, 0.5);
  EXPECT_EQ(t, 15s);
  EXPECT_EQ(size, 1024u);
  EXPECT_THAT(list, ElementsAre("a", "1"));
  EXPECT_THAT(map, ElementsAre(Pair("k", "v")));
  EXPECT_EQ(maybe, 7);
  EXPECT_EQ(absent, std::nullopt);
}

TEST(YamlFields, AbsentKeepsTheDefaultAndNullIsZero) {
  const YamlNode node = parse("b:\n");
  int64_t a = 5, b = 5;
  YamlFields f(node);
  EXPECT_THAT(f.read("a", a).read("b", b).finish(), IsOk());
  EXPECT_EQ(a, 5);
  EXPECT_EQ(b, 0);
}

TEST(YamlFields, UnknownKeyNamesPlaceTypeAndNeighbour) {
  const YamlNode node = parse("a: 1\nscrape_intervall: 5s\n");
  int64_t a = 0;
  Duration t{};
  YamlFields f(node);
  EXPECT_THAT(f.read("a", a).read("scrape_interval", t).finish("config.plain"),
              StatusIs(Code::InvalidArgument,
                       "f.yml:2:1: line 2: field scrape_intervall not found in type config.plain; "
                       "did you mean scrape_interval?"));
}

TEST(YamlFields, TheFirstErrorWins) {
  const YamlNode node = parse("a: x\nb: y\nzzz: 1\n");
  int64_t a = 1, b = 1;
  YamlFields f(node);
  f.read("a", a).read("b", b).fail(Status::invalid("later"));
  EXPECT_FALSE(f.ok());
  EXPECT_THAT(f.finish(), StatusIs(Code::InvalidArgument,
                                   "f.yml:1:4: line 1: cannot unmarshal !!str `x` into int"));
  EXPECT_EQ(a, 1);
}

TEST(YamlFields, AnEmptySectionIsFineAndAListIsNot) {
  const YamlNode empty = parse("");
  EXPECT_THAT(YamlFields(empty).finish(), IsOk());
  const YamlNode list = parse("[a]");
  EXPECT_THAT(YamlFields(list).finish(), StatusIs(Code::InvalidArgument, "!!seq into map"));
}

TEST(YamlFields, WrongShapes) {
  const YamlNode node = parse("list: word\n");
  std::vector<std::string> list;
  YamlFields f(node);
  EXPECT_THAT(f.read("list", list).finish(),
              StatusIs(Code::InvalidArgument, "cannot unmarshal !!str `word` into []string"));
  const YamlNode negative = parse("u: -1");
  uint64_t u = 0;
  YamlFields g(negative);
  EXPECT_THAT(g.read("u", u).finish(), StatusIs(Code::InvalidArgument, "`-1` into uint64"));
}

TEST(NearestWord, IsNearOrNothing) {
  const std::set<std::string, std::less<>> known = {"job_name", "scheme", "static_configs"};
  EXPECT_EQ(nearest_word("jobname", known), "job_name");
  EXPECT_EQ(nearest_word("shceme", known), "scheme");
  EXPECT_EQ(nearest_word("remote_write", known), "");
  EXPECT_EQ(nearest_word("", known), "");
}

}  // namespace
}  // namespace vagt::base

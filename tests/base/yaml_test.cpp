#include "base/yaml.h"

#include <cmath>
#include <fstream>
#include <limits>

#include "tests/support/status_matchers.h"

namespace vagt::base {
namespace {

using namespace std::chrono_literals;
using test::IsOk;
using test::StatusIs;

Result<YamlNode> parse(std::string_view text, const YamlLimits& limits = {}) {
  return parse_yaml(text, "f.yml", limits);
}

TEST(Yaml, TreeWithPlaces) {
  const YamlNode root = parse("a: 1\nb:\n  - x\n  - 'y z'\n  - {k: v}\n").value();
  ASSERT_TRUE(root.is_map());
  EXPECT_EQ(root.find("a")->scalar(), "1");
  EXPECT_FALSE(root.find("a")->quoted());
  const YamlNode& list = *root.find("b");
  ASSERT_EQ(list.items().size(), 3u);
  EXPECT_EQ(list.items()[1].scalar(), "y z");
  EXPECT_TRUE(list.items()[1].quoted());
  EXPECT_EQ(list.items()[1].where(), "f.yml:4:5");
  EXPECT_EQ(list.items()[2].find("k")->where(), "f.yml:5:9");
  EXPECT_EQ(root.entries()[1].line, 2);
  EXPECT_EQ(root.find("c"), nullptr);
}

TEST(Yaml, EmptyIsNull) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "--- ~\n", "null"})
    EXPECT_TRUE(parse(text).value().is_null()) << text;
}

TEST(Yaml, BlockScalarsAndEscapes) {
  const YamlNode root = parse("a: |\n  x\n   y\nb: >-\n  p\n  q\nc: \"\\u00e9\\n\"\n").value();
  EXPECT_EQ(root.find("a")->scalar(), "x\n y\n");
  EXPECT_EQ(root.find("b")->scalar(), "p q");
  EXPECT_EQ(root.find("c")->scalar(), "é\n");
}

TEST(Yaml, JsonIsYaml) {
  const YamlNode root = parse(R"({"a":[1,{"b":null}],"c":"x: y"})").value();
  EXPECT_TRUE(root.find("a")->items()[1].find("b")->is_null());
  EXPECT_EQ(root.find("c")->scalar(), "x: y");
}

TEST(Yaml, DuplicateKeyIsRefused) {
  EXPECT_THAT(parse("a: 1\nb: 2\na: 3\n"),
              StatusIs(Code::InvalidArgument, "f.yml:3:1: line 3: key \"a\" already set in map"));
}

TEST(Yaml, SecondDocumentIsRefused) {
  EXPECT_THAT(parse("a: 1\n---\nb: 2\n"), StatusIs(Code::InvalidArgument, "only one document"));
  EXPECT_THAT(parse("---\na: 1\n...\n"), IsOk());
}

TEST(Yaml, InvalidCharactersAreRefused) {
  EXPECT_THAT(parse("a: 1\nb: \xff\n"),
              StatusIs(Code::InvalidArgument, "f.yml:2:1: yaml: invalid"));
  EXPECT_THAT(parse("a: \x01"), StatusIs(Code::InvalidArgument, "control characters"));
}

TEST(Yaml, SyntaxErrorNamesThePlace) {
  EXPECT_THAT(parse("a: [1, 2\nb: 3\n"), StatusIs(Code::InvalidArgument, "f.yml:2:"));
  EXPECT_THAT(parse("a: *nowhere"), StatusIs(Code::InvalidArgument, "f.yml:1:"));
}

TEST(Yaml, AliasesAreCopies) {
  const YamlNode root = parse("a: &x {k: v}\nb: *x\nc: &y word\nd: [*y, *y]\n").value();
  EXPECT_EQ(root.find("b")->find("k")->scalar(), "v");
  EXPECT_EQ(root.find("d")->items()[1].scalar(), "word");
}

TEST(Yaml, AnAnchorCannotContainItself) {
  EXPECT_THAT(parse("a: &x [*x]\n"), StatusIs(Code::InvalidArgument, "contains itself"));
}

TEST(Yaml, MergeKeepsOwnKeysAndTheEarlierMerge) {
  const YamlNode root = parse(
                            "base: &b {a: 1, c: 2}\nmore: &m {c: 3, d: 4}\n"
                            "use:\n  <<: [*b, *m]\n  a: own\n")
                            .value();
  const YamlNode& use = *root.find("use");
  EXPECT_EQ(use.entries().size(), 3u);
  EXPECT_EQ(use.find("a")->scalar(), "own");
  EXPECT_EQ(use.find("c")->scalar(), "2");
  EXPECT_EQ(use.find("d")->scalar(), "4");
  EXPECT_THAT(parse("a: {<<: 3}"), StatusIs(Code::InvalidArgument, "map merge requires"));
  EXPECT_EQ(parse("a: {'<<': 3}").value().find("a")->find("<<")->scalar(), "3");
}

TEST(Yaml, LimitsHold) {
  YamlLimits limits;
  limits.max_depth = 3;
  EXPECT_THAT(parse("[[[1]]]", limits), IsOk());
  EXPECT_THAT(parse("[[[[1]]]]", limits), StatusIs(Code::LimitExceeded, "deeper than 3"));
  limits.max_bytes = 4;
  EXPECT_THAT(parse("[1,2]", limits), StatusIs(Code::LimitExceeded, "limit of 4"));
}

TEST(Yaml, AnAliasBombIsRefused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1), name = "a" + std::to_string(i);
    text += name + ": &" + name + " [";
    for (int n = 0; n < 10; ++n) text += before + ",";
    text += "]\n";
  }
  EXPECT_THAT(parse(text), StatusIs(Code::LimitExceeded, "after expanding aliases"));
}

TEST(Yaml, DeepNestingDoesNotOverflowTheStack) {
  EXPECT_FALSE(parse(std::string(100'000, '[')).ok());
  EXPECT_FALSE(parse(std::string(100'000, '{')).ok());
}

TEST(Yaml, KeysMustBeScalars) {
  EXPECT_THAT(parse("? [a]\n: b\n"), StatusIs(Code::InvalidArgument, "map key must be a scalar"));
  EXPECT_EQ(parse("null: x\n1: y\n").value().entries()[0].key, "null");
}

TEST(Yaml, Tags) {
  EXPECT_TRUE(parse("!!str 5").value().quoted());
  EXPECT_EQ(parse("a: !!int 5").value().find("a")->as_int().value(), 5);
  EXPECT_THAT(parse("a: !!set x"), StatusIs(Code::InvalidArgument, "unsupported tag"));
  EXPECT_EQ(parse("!!binary aGk=").value().scalar(), "hi");
  EXPECT_EQ(parse("!!binary \"/w==\"").value().scalar(), "\xFF");
  for (const char* text : {"aGk", "a=k=", "a===", "aG%="})
    EXPECT_THAT(parse(std::string("!!binary ") + text),
                StatusIs(Code::InvalidArgument, "!!binary value contains invalid base64 data"));
}

TEST(Yaml, LoadsAFile) {
  const std::string path = ::testing::TempDir() + "vagt_yaml_test.yml";
  std::ofstream(path) << "a: b\n";
  EXPECT_EQ(load_yaml_file(path).value().find("a")->where(), path + ":1:4");
  EXPECT_THAT(load_yaml_file(path + ".none"), StatusIs(Code::Io, "No such file"));
}

TEST(YamlScalar, Bool) {
  const YamlNode root = parse("[true, No, 'true', 1, ~, [x]]").value();
  EXPECT_TRUE(root.items()[0].as_bool().value());
  EXPECT_FALSE(root.items()[1].as_bool().value());
  EXPECT_THAT(root.items()[2].as_bool(),
              StatusIs(Code::InvalidArgument, "cannot unmarshal !!str `true` into bool"));
  EXPECT_THAT(root.items()[3].as_bool(),
              StatusIs(Code::InvalidArgument, "line 1: cannot unmarshal !!int `1` into bool"));
  EXPECT_FALSE(root.items()[4].as_bool().value());
  EXPECT_THAT(root.items()[5].as_bool(),
              StatusIs(Code::InvalidArgument, "cannot unmarshal !!seq into bool"));
}

TEST(YamlScalar, Integers) {
  const auto read = [](std::string_view text) { return parse(text).value().as_int(); };
  EXPECT_EQ(read("-12").value(), -12);
  EXPECT_EQ(read("1_000").value(), 1000);
  EXPECT_EQ(read("0x1F").value(), 31);
  EXPECT_EQ(read("010").value(), 8);
  EXPECT_EQ(read("1e3").value(), 1000);
  EXPECT_EQ(read("-9223372036854775808").value(), std::numeric_limits<int64_t>::min());
  EXPECT_THAT(read("9223372036854775808"), StatusIs(Code::InvalidArgument, "into int"));
  EXPECT_THAT(read("abcdefghijklm"), StatusIs(Code::InvalidArgument, "!!str `abcdefg...`"));
  EXPECT_THAT(read("'5'"), StatusIs(Code::InvalidArgument));
}

TEST(YamlScalar, Doubles) {
  const auto read = [](std::string_view text) { return parse(text).value().as_double(); };
  EXPECT_EQ(read("1.5").value(), 1.5);
  EXPECT_EQ(read("3").value(), 3);
  EXPECT_EQ(read("-.inf").value(), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read(".NaN").value()));
  EXPECT_THAT(read("inf"), StatusIs(Code::InvalidArgument, "!!str `inf` into float64"));
}

TEST(YamlScalar, DurationsAndBytes) {
  EXPECT_EQ(parse("1m30s").value().as_duration().value(), 90s);
  EXPECT_THAT(parse("5").value().as_duration(),
              StatusIs(Code::InvalidArgument, "f.yml:1:1: not a valid duration string: \"5\""));
  const auto bytes = [](std::string_view text) { return parse(text).value().as_bytes(); };
  EXPECT_EQ(bytes("0").value(), 0u);
  EXPECT_EQ(bytes("512MB").value(), 512u << 20);
  EXPECT_EQ(bytes("1.5GiB").value(), 3ull << 29);
  EXPECT_THAT(bytes("512"), StatusIs(Code::InvalidArgument, "units: unknown unit"));
  EXPECT_THAT(bytes("5XB"), StatusIs(Code::InvalidArgument, "unknown unit XB in 5XB"));
}

}  // namespace
}  // namespace vagt::base

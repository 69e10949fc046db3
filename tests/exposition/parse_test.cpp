#include "exposition/parse.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/status_matchers.h"

namespace vagt::exposition {
namespace {

using test::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Everything on the page, one short line per entry.
std::vector<std::string> walk(std::string_view body, Format format, Status* status = nullptr) {
  std::vector<std::string> seen;
  Parser parser(body, format);
  while (parser.next()) {
    const Entry& e = parser.entry();
    std::string line;
    switch (e.kind) {
      case EntryKind::Help:
        line = "help " + std::string(e.raw_name) + "|" + std::string(e.rest);
        break;
      case EntryKind::Type:
        line = "type " + std::string(e.raw_name) + "|" + std::string(metric_type_name(e.type));
        break;
      case EntryKind::Unit:
        line = "unit " + std::string(e.raw_name) + "|" + std::string(e.rest);
        break;
      case EntryKind::Comment:
        line = std::string(e.text);
        break;
      case EntryKind::Sample:
        line = std::string(e.raw_name);
        for (const RawLabel& l : e.labels)
          line += " " + std::string(l.raw_name) + "=" + std::string(l.raw_value);
        line += " -> " + (std::isnan(e.value) ? "nan" : std::to_string(static_cast<int>(e.value)));
        if (e.has_timestamp) line += " @" + std::to_string(e.timestamp_ms);
        if (e.has_exemplar) line += " #" + std::string(parser.exemplar().text);
        break;
    }
    seen.push_back(line);
  }
  if (status != nullptr) *status = parser.status();
  return seen;
}

Status error_of(std::string_view body, Format format = Format::Text) {
  Status status;
  walk(body, format, &status);
  return status;
}

TEST(ParseText, WalksAPage) {
  EXPECT_THAT(walk("# HELP a some help\n# TYPE a counter\na{b=\"c\",d=\"e\"} 1\n\n a 2 1500\n# "
                   "note\n{\"x.y\",z=\"\"} 3",
                   Format::Text),
              ElementsAre("help a|some help", "type a|counter", "a b=c d=e -> 1", "a -> 2 @1500",
                          "# note", "x.y z= -> 3"));
}

TEST(ParseText, SeriesTextEndsBeforeTheValue) {
  Parser parser("a { b = \"}\" } 1\nup 1\n", Format::Text);
  ASSERT_TRUE(parser.next());
  EXPECT_EQ(parser.entry().text, "a { b = \"}\" }");
  ASSERT_TRUE(parser.next());
  EXPECT_EQ(parser.entry().text, "up");
}

TEST(ParseText, ToleratesWhatExportersDo) {
  Parser crlf("a 1\r\nb 2 77\r\n# TYPE c gauge\r\nc 3\r", Format::Text);
  int samples = 0;
  while (crlf.next()) samples += crlf.entry().kind == EntryKind::Sample;
  EXPECT_THAT(crlf.status(), IsOk());
  EXPECT_EQ(samples, 3);
  EXPECT_GE(crlf.warnings().crlf_lines, 3u);

  Parser nan("busy -nan\nb 3\n", Format::Text);
  ASSERT_TRUE(nan.next());
  EXPECT_TRUE(std::isnan(nan.entry().value));
  ASSERT_TRUE(nan.next());
  EXPECT_EQ(nan.entry().value, 3);
  EXPECT_EQ(nan.warnings().signed_nans, 1u);

  EXPECT_THAT(walk("# HELP a\na{} 1\nb 2", Format::Text),
              ElementsAre("help a|", "a -> 1", "b -> 2"));
}

TEST(ParseText, ErrorsNameLineAndFragment) {
  EXPECT_THAT(error_of("a 1\nb one\nc 3\n").message(), HasSubstr("line 2: "));
  EXPECT_THAT(error_of("a 1\nb one\nc 3\n").message(), HasSubstr("while parsing: \"b one\""));
  EXPECT_THAT(error_of("a{b='c'} 1\n").message(),
              HasSubstr("expected label value, got \"'\" while parsing: \"a{b='\""));
  EXPECT_THAT(error_of("a 1 # {t=\"1\"} 1\n").message(),
              HasSubstr("expected timestamp or new record"));
  EXPECT_THAT(error_of("{a=\"ok\"} 1").message(), HasSubstr("metric name not set"));
  EXPECT_THAT(error_of("\"a 1\\nb 2\"").message(), HasSubstr("JSON-quoted"));
  EXPECT_THAT(error_of("<html><body>login</body></html>").message(), HasSubstr("HTML"));
  EXPECT_THAT(error_of("# TYPE a foo\n").message(), HasSubstr("invalid metric type \"foo\""));
  EXPECT_THAT(error_of("a 1e400\n").message(), HasSubstr("out of range"));
  EXPECT_THAT(error_of("a 1_0\n").message(), HasSubstr("unsupported character in float"));
  EXPECT_THAT(error_of("a{b=\"\xff\"} 1\n").message(), HasSubstr("invalid UTF-8 label value"));
}

TEST(ParseText, ErrorsOfALongLineStayShort) {
  std::string body = "a{b=\"" + std::string(1 << 20, 'x') + "\" 1\n";
  EXPECT_LT(error_of(body).message().size(), 400u);
}

TEST(ParseOpenMetrics, WalksAPage) {
  EXPECT_THAT(walk("# TYPE c counter\n# UNIT c_s s\nc_total 1 2.5 # {t=\"1\"} 4 "
                   "123.25\nc_total{le=\"1\",} 3\n# EOF\n",
                   Format::OpenMetrics),
              ElementsAre("type c|counter", "unit c_s|s", "c_total -> 1 @2500 #{t=\"1\"}",
                          "c_total le=1 -> 3"));
  Parser parser("a 1 # {t=\"x\"} 4.5 123.25\n# EOF", Format::OpenMetrics);
  ASSERT_TRUE(parser.next());
  EXPECT_EQ(parser.exemplar().value, 4.5);
  EXPECT_EQ(parser.exemplar().timestamp_ms, 123250);
  EXPECT_FALSE(parser.next());
  EXPECT_THAT(parser.status(), IsOk());
}

TEST(ParseOpenMetrics, IsStrict) {
  for (const char* body :
       {"", "a 1\n", "a 1\n\n# EOF\n", "a 1\n# EOF\nb 2\n", "a  1\n# EOF\n", "a 1 \n# EOF\n",
        "# comment\n# EOF\n", "a{ b=\"c\"} 1\n# EOF\n", "a 1\r\n# EOF\n", "a 1 NaN\n# EOF\n",
        "a{b=\"c\"d=\"e\"} 1\n# EOF\n", "# TYPE a untyped\n# EOF\n", "# UNIT a s\n# EOF\n"}) {
    EXPECT_FALSE(error_of(body, Format::OpenMetrics).ok()) << body;
  }
}

TEST(KnownSeries, ReadsOnlyTheTail) {
  Parser parser("a{b=\"c\"} 17\na{b=\"c\"} +Inf 3\na 4\na {x=\"y\"} 5\n", Format::Text);
  ASSERT_TRUE(parser.next_known_series(8));
  EXPECT_EQ(parser.entry().value, 17);
  EXPECT_TRUE(parser.entry().raw_name.empty());
  ASSERT_TRUE(parser.next_known_series(8));
  EXPECT_TRUE(parser.entry().has_timestamp);
  ASSERT_TRUE(parser.next_known_series(1));
  EXPECT_EQ(parser.entry().value, 4);
  // The line is not the series its beginning looks like.
  ASSERT_TRUE(parser.next_known_series(1));
  EXPECT_EQ(parser.entry().raw_name, "a");
  EXPECT_EQ(parser.entry().labels.size(), 1u);
  EXPECT_EQ(parser.entry().value, 5);
}

TEST(Unescape, KnowsThreeEscapes) {
  std::string out;
  unescape("a\\nb\\\\c\\\"d\\x\\", out);
  EXPECT_EQ(out, "a\nb\\c\"d\\x\\");
}

}  // namespace
}  // namespace vagt::exposition

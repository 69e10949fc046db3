#include "base/labels.h"

#include "tests/support/status_matchers.h"

namespace vagt {
namespace {

using test::StatusIs;

TEST(Labels, AreSortedAndDropEmptyValues) {
  const Labels labels = Labels::make({{"b", "2"}, {"a", "1"}, {"c", ""}}).value();
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels.items()[0], (Label{"a", "1"}));
  EXPECT_EQ(labels.items()[1], (Label{"b", "2"}));
  EXPECT_EQ(labels.get("c"), "");
}

TEST(Labels, RefuseDuplicatesAndEmptyNames) {
  EXPECT_THAT(Labels::make({{"a", "1"}, {"a", "2"}}),
              StatusIs(Code::InvalidArgument, "\"a\" occurs twice"));
  EXPECT_THAT(Labels::make({{"", "1"}}), StatusIs(Code::InvalidArgument, "empty label name"));
}

TEST(Labels, CopiesShareAndSurviveTheirSource) {
  Labels copy;
  {
    const Labels original = Labels::of({{"job", "dcgm"}});
    copy = original;
    EXPECT_EQ(copy.items().data(), original.items().data());
  }
  EXPECT_EQ(copy.get("job"), "dcgm");
}

TEST(Labels, EqualityNeedsNamesAndValues) {
  EXPECT_EQ(Labels::of({{"a", "1"}, {"b", "2"}}), Labels::of({{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(Labels::of({{"a", "12"}}), Labels::of({{"a1", "2"}}));
  EXPECT_EQ(Labels(), Labels::of({}));
}

TEST(Labels, OrderIsByNameThenValueThenLength) {
  EXPECT_LT(Labels::of({{"a", "1"}}), Labels::of({{"a", "1"}, {"b", "1"}}));
  EXPECT_LT(Labels::of({{"a", "1"}, {"c", "9"}}), Labels::of({{"a", "2"}}));
  EXPECT_LT(Labels(), Labels::of({{"a", "1"}}));
}

TEST(Labels, FingerprintIsAlertmanagersFnv) {
  // 64-bit FNV-1a of "alertname" 0xff "A" 0xff, computed independently.
  uint64_t h = 14695981039346656037ULL;
  for (const unsigned char c : std::string("alertname\xff"
                                           "A\xff"))
    h = (h ^ c) * 1099511628211ULL;
  EXPECT_EQ(Labels::of({{"alertname", "A"}}).fingerprint(), h);
  EXPECT_EQ(Labels().fingerprint(), 14695981039346656037ULL);
}

TEST(Labels, PrintAsPrometheusDoes) {
  EXPECT_EQ(Labels::of({{"__name__", "up"}, {"job", "a\"b"}}).to_string(), "up{job=\"a\\\"b\"}");
  EXPECT_EQ(Labels::of({{"__name__", "up"}}).to_string(), "up");
  EXPECT_EQ(Labels().to_string(), "{}");
  EXPECT_EQ(Labels::of({{"__name__", "http.requests"}, {"k8s.pod", "x"}}).to_string(),
            "{\"http.requests\", \"k8s.pod\"=\"x\"}");
}

TEST(LabelsBuilder, SetsErasesAndKeepsOrder) {
  LabelsBuilder builder(Labels::of({{"b", "2"}, {"d", "4"}}));
  builder.set("c", "3").set("b", "").set("a", "1").set("d", "5").erase("nothing");
  EXPECT_EQ(builder.build(), Labels::of({{"a", "1"}, {"c", "3"}, {"d", "5"}}));
  EXPECT_EQ(builder.get("c"), "3");
}

TEST(Utf8, TellsWellFormedFromMalformed) {
  EXPECT_TRUE(is_valid_utf8("µs °C \xF0\x9F\x94\xA5"));
  EXPECT_FALSE(is_valid_utf8("\xC0\x80"));          // overlong
  EXPECT_FALSE(is_valid_utf8("\xED\xA0\x80"));      // surrogate
  EXPECT_FALSE(is_valid_utf8("abc\xE2\x82"));       // cut
  EXPECT_FALSE(is_valid_utf8("\xF5\x80\x80\x80"));  // beyond Unicode
  EXPECT_FALSE(is_utf8_name(""));
}

TEST(Utf8, AppendsEachLength) {
  std::string out;
  for (const uint32_t rune : {0x41u, 0xB5u, 0x20ACu, 0x1F525u}) append_utf8(out, rune);
  EXPECT_EQ(out, "Aµ€\xF0\x9F\x94\xA5");
}

TEST(Quote, EscapesAsGoDoes) {
  EXPECT_EQ(quote("a\n\t\\\"\x01\x7f"), R"("a\n\t\\\"\x01\x7f")");
  EXPECT_EQ(quote("°C — ok"), "\"°C — ok\"");
  EXPECT_EQ(quote("\xff"), R"("\xff")");
  EXPECT_EQ(quote("\xE2\x80\xA8"), R"("\u2028")");
}

TEST(Names, LegacyAlphabets) {
  EXPECT_TRUE(is_legacy_metric_name("vllm:num_requests_waiting"));
  EXPECT_FALSE(is_legacy_label_name("a:b"));
  EXPECT_FALSE(is_legacy_metric_name("1a"));
  EXPECT_FALSE(is_legacy_metric_name(""));
}

}  // namespace
}  // namespace vagt

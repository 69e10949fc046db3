#include "rules/group.h"

#include "base/sample.h"
#include "tests/rules/fakes.h"
#include "tests/support/status_matchers.h"

namespace vagt::rules {
namespace {

using std::chrono::minutes;

class GroupTest : public ::testing::Test {
 protected:
  std::unique_ptr<Group> make(const std::string& text, Labels external = {}) {
    auto env = std::make_shared<GroupEnvironment>();
    env->store = store_.get();
    env->sink = &heard_;
    env->external_url = "http://prom/base";
    RuleFile file = rules_of(text);
    GroupSettings settings;
    settings.external_labels = std::move(external);
    settings.query_offset = file.groups[0].query_offset.value_or(Duration{});
    return std::make_unique<Group>(env, std::move(file.groups[0]), settings);
  }
  static Timestamp at(int minute) { return from_millis(1'700'000'000'000) + minutes(minute); }

  // "metric{…} value@minute" of every sample in the store, stale markers as "stale".
  std::vector<std::string> stored(const std::string& metric) {
    std::vector<std::string> out;
    const Matcher matchers[] = {Matcher::equal("__name__", metric)};
    const auto querier = store_->querier(at(-60), at(600));
    const auto cursor = querier->select(matchers, {at(-60), at(600), ""});
    while (cursor->next()) {
      SampleColumns columns;
      while (cursor->read(columns, 100)) {
      }
      for (size_t i = 0; i < columns.size(); ++i) {
        const auto minute = (columns.t[i] - at(0)) / minutes(1);
        out.push_back(cursor->labels().to_string() + " " +
                      (is_stale(columns.v[i])
                           ? "stale"
                           : std::to_string(static_cast<int64_t>(columns.v[i]))) +
                      "@" + std::to_string(minute));
      }
    }
    return out;
  }

  std::unique_ptr<tsdb::Store> store_ = make_memory_store();
  Heard heard_;
};

TEST_F(GroupTest, WritesRecordingResultsAndEndsVanishedSeries) {
  const auto group = make(
      "groups: [{name: g, rules: [{record: 'job:x', expr: x * 2, labels: {kind: r}}, "
      "{record: twice, expr: 'job:x * 2'}]}]");
  put(*store_, Labels::of({{"__name__", "x"}, {"h", "a"}}), at(0), 5);
  const GroupCounts counts = group->evaluate(at(0));
  EXPECT_EQ(counts.rules, 2u);
  EXPECT_EQ(counts.failures, 0u);
  EXPECT_EQ(counts.samples, 2u);  // the second rule sees what the first one wrote
  put(*store_, Labels::of({{"__name__", "x"}, {"h", "a"}}), at(1), stale_marker());
  group->evaluate(at(1));
  group->evaluate(at(2));
  EXPECT_EQ(stored("job:x"), (std::vector<std::string>{"job:x{h=\"a\", kind=\"r\"} 10@0",
                                                       "job:x{h=\"a\", kind=\"r\"} stale@1"}));
  EXPECT_EQ(stored("twice").size(), 2u);
}

TEST_F(GroupTest, WritesAlertSeriesAndPublishes) {
  const auto group = make(
      "groups: [{name: g, rules: [{alert: Hot, expr: t > 90, for: 1m, labels: {sev: '{{ $labels.h "
      "}}!'}, "
      "annotations: {s: '{{ $value }} on {{ $labels.h }} {{ $externalLabels.dc }}'}}]}]",
      Labels::of({{"dc", "fra"}, {"h", "never"}}));
  const Labels series = Labels::of({{"__name__", "t"}, {"h", "a"}});
  for (int m = 0; m < 3; ++m) {
    put(*store_, series, at(m), m < 2 ? 95 : 50);
    group->evaluate(at(m));
  }
  EXPECT_EQ(stored("ALERTS"),
            (std::vector<std::string>{
                "ALERTS{alertname=\"Hot\", alertstate=\"firing\", h=\"a\", sev=\"a!\"} 1@1",
                "ALERTS{alertname=\"Hot\", alertstate=\"firing\", h=\"a\", sev=\"a!\"} stale@2",
                "ALERTS{alertname=\"Hot\", alertstate=\"pending\", h=\"a\", sev=\"a!\"} 1@0",
                "ALERTS{alertname=\"Hot\", alertstate=\"pending\", h=\"a\", sev=\"a!\"} stale@1"}));
  EXPECT_EQ(stored("ALERTS_FOR_STATE").size(), 3u);
  ASSERT_EQ(heard_.alerts.size(), 2u);
  EXPECT_EQ(heard_.alerts[0].labels.to_map(),
            (TextMap{{"alertname", "Hot"}, {"dc", "fra"}, {"h", "a"}, {"sev", "a!"}}));
  EXPECT_EQ(heard_.alerts[0].annotations.at("s"), "95 on a fra");
  EXPECT_EQ(heard_.alerts[0].generator_url, "http://prom/base/graph?g0.expr=t+%3E+90&g0.tab=1");
  EXPECT_FALSE(heard_.alerts[0].resolved_at.has_value());
  EXPECT_EQ(heard_.alerts[1].resolved_at, at(2));
}

TEST_F(GroupTest, AFailingRuleLeavesTheOthersRunning) {
  const auto group = make(R"(groups: [{name: g, limit: 1, rules: [
    {record: many, expr: a + on(x) b},
    {record: clash, expr: 'label_replace(b, "y", "same", "", "")', labels: {y: z}},
    {record: over, expr: b},
    {record: good, expr: sum(b)},
    {alert: Text, expr: good, annotations: {s: '{{ query "nosuch" | first | value }}'}}]}])");
  put(*store_, Labels::of({{"__name__", "a"}, {"x", "1"}}), at(0), 1);
  put(*store_, Labels::of({{"__name__", "b"}, {"x", "1"}, {"y", "1"}}), at(0), 1);
  put(*store_, Labels::of({{"__name__", "b"}, {"x", "1"}, {"y", "2"}}), at(0), 1);
  EXPECT_EQ(group->evaluate(at(0)).failures, 3u);
  const GroupView view = group->view();
  EXPECT_NE(view.rules[0].last_error.find("many-to-many matching not allowed"), std::string::npos);
  EXPECT_EQ(view.rules[2].last_error, "exceeded limit of 1 with 2 series");
  EXPECT_EQ(rule_health_name(view.rules[0].health), "err");
  EXPECT_EQ(view.rules[3].health, RuleHealth::Good);
  EXPECT_EQ(view.rules[4].state, AlertState::Firing);
  // A text that fails never swallows the page.
  ASSERT_EQ(heard_.alerts.size(), 1u);
  EXPECT_TRUE(heard_.alerts[0].annotations.at("s").starts_with(
      "<error expanding template: error executing template __alert_Text: template: "
      "__alert_Text:1:"));
}

TEST_F(GroupTest, LooksBackByItsQueryOffset) {
  const auto group = make("groups: [{name: g, query_offset: 2m, rules: [{record: r, expr: x}]}]");
  for (int m = 0; m < 4; ++m) put(*store_, Labels::of({{"__name__", "x"}}), at(m), m);
  group->evaluate(at(3));
  EXPECT_EQ(stored("r"), (std::vector<std::string>{"r 1@1"}));
}

TEST_F(GroupTest, SlotsAreStableAndAligned) {
  const auto group = make("groups: [{name: g, rules: []}]");
  const Timestamp slot = group->slot_at_or_before(at(10));
  EXPECT_LE(slot, at(10));
  EXPECT_LT(at(10) - slot, minutes(1));
  EXPECT_EQ(group->slot_at_or_before(slot), slot);
  EXPECT_EQ(group->slot_at_or_before(slot - Duration(1)), slot - minutes(1));
}

}  // namespace
}  // namespace vagt::rules

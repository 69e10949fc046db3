#include "rules/rule_test.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/number_text.h"
#include "base/regex.h"
#include "query/evaluator.h"
#include "rules/group.h"
#include "rules/rule_file.h"
#include "rules/test_file.h"
#include "rules/test_report.h"

namespace vagt::rules {
namespace {

// One test group of a file at work.
class TestRun {
 public:
  TestRun(const TestFile& file, const TestGroup& test, const RuleTestOptions& options,
          RuleTestResult& result)
      : file_(file),
        test_(test),
        options_(options),
        result_(result),
        store_(options.make_store()) {}

  std::vector<std::string> run() {
    if (!load_series() || !load_rules()) return std::move(failures_);
    const Duration last = last_time();
    check_names();
    for (Duration at{}; at <= last; at += file_.evaluation_interval) {
      if (!evaluate(at)) return std::move(failures_);
      check_alerts_between(at, at + file_.evaluation_interval);
    }
    append_until(last);
    for (const ExprTest& test : test_.expr_tests) check_expr(test);
    return std::move(failures_);
  }

 private:
  bool fail(std::string text) {
    failures_.push_back(std::move(text));
    return false;
  }
  void debug(std::string line) {
    if (options_.debug) result_.debug.push_back("DEBUG: " + std::move(line));
  }

  // -- input
  // -----------------------------------------------------------------------------------------------------
  bool load_series() {
    for (const auto& [series, values] : test_.input) {
      Result<Labels> labels = parse_series(series);
      if (!labels) return fail(labels.error().message());
      Result<SeriesValues> parsed = parse_values(values);
      if (!parsed) return fail(parsed.error().message());
      input_.push_back({std::move(*labels), std::move(*parsed)});
    }
    refs_.assign(input_.size(), tsdb::SeriesRef::None);
    return true;
  }

  // Samples enter the store as time passes, so that a rule cannot see the future.
  bool append_until(Duration at) {
    const size_t upto = static_cast<size_t>(at / test_.interval) + 1;
    if (upto <= loaded_) return true;
    std::unique_ptr<tsdb::Appender> appender = store_->appender();
    for (; loaded_ < upto; ++loaded_) {
      const Timestamp t = test_.start + static_cast<int64_t>(loaded_) * test_.interval;
      for (size_t i = 0; i < input_.size(); ++i) {
        if (loaded_ >= input_[i].values.size() || !input_[i].values[loaded_]) continue;
        if (refs_[i] == tsdb::SeriesRef::None) {
          Result<tsdb::SeriesRef> ref = appender->series(input_[i].labels);
          if (!ref) return fail(ref.error().message());
          refs_[i] = *ref;
        }
        const Code code = appender->append(refs_[i], {t, *input_[i].values[loaded_]});
        if (code != Code::Ok) {
          return fail(fmt::format("series {}: {}", input_[i].labels.to_string(), code_name(code)));
        }
      }
    }
    const Status status = appender->commit();
    return status.ok() || fail(status.message());
  }

  bool load_rules() {
    auto env = std::make_shared<GroupEnvironment>();
    env->store = store_.get();
    env->external_url = test_.external_url;
    env->parse = options_.parse;
    env->eval.default_subquery_step = file_.evaluation_interval;
    env_ = env;
    RuleFileOptions rule_options;
    rule_options.parse = options_.parse;
    rule_options.ignore_unknown_fields = options_.ignore_unknown_fields;
    for (const std::string& path : file_.rule_files) {
      RuleFileResult loaded = read_rule_file(path, rule_options);
      for (const Status& error : loaded.errors) fail(error.message());
      for (RuleGroup& group : loaded.file.groups) {
        const GroupSettings settings{group.interval.value_or(file_.evaluation_interval),
                                     group.query_offset.value_or(Duration{}),
                                     Labels::from_map(test_.external_labels),
                                     file_.evaluation_interval};
        groups_.push_back(std::make_unique<Group>(env_, std::move(group), settings));
      }
    }
    std::map<std::string, size_t> order;
    for (const std::string& name : file_.group_eval_order) order.emplace(name, order.size());
    const auto place = [&](const std::unique_ptr<Group>& group) {
      const auto found = order.find(group->definition().name);
      return found == order.end() ? 0 : found->second;
    };
    std::stable_sort(groups_.begin(), groups_.end(),
                     [&](const auto& a, const auto& b) { return place(a) < place(b); });
    return failures_.empty();
  }

  Duration last_time() const {
    Duration last{};
    for (const AlertTest& test : test_.alert_tests) last = std::max(last, test.eval_time);
    for (const ExprTest& test : test_.expr_tests) last = std::max(last, test.eval_time);
    return last;
  }

  void check_names() {
    for (const AlertTest& test : test_.alert_tests) {
      if (!test.alertname.empty()) continue;
      fail(fmt::format(
          "an item under alert_rule_test misses required attribute alertname at eval_time {}",
          format_duration(test.eval_time)));
    }
  }

  // -- rules
  // -----------------------------------------------------------------------------------------------------
  bool evaluate(Duration at) {
    if (!append_until(at)) return false;
    const Timestamp now = test_.start + at;
    bool good = true;
    for (const auto& group : groups_) {
      if (group->evaluate(now).failures == 0) continue;
      for (const RuleView& rule : group->view().rules) {
        if (rule.health != RuleHealth::Bad) continue;
        good = fail(fmt::format("    rule: {}, time: {}, err: {}", rule.name,
                                format_go_duration(now.time_since_epoch()), rule.last_error));
      }
    }
    return good;
  }

  // The tests whose time lies in [from, to) see the evaluation at `from`.
  void check_alerts_between(Duration from, Duration to) {
    std::vector<const AlertTest*> due;
    for (const AlertTest& test : test_.alert_tests) {
      if (test.eval_time >= from && test.eval_time < to && !test.alertname.empty())
        due.push_back(&test);
    }
    if (due.empty()) return;
    std::map<std::string, std::vector<LabelsAndAnnotations>> got;
    for (const auto& group : groups_) {
      for (const RuleView& rule : group->view().rules) {
        for (const AlertView& alert : rule.alerts) {
          if (alert.state != AlertState::Firing) continue;
          got[rule.name].push_back({alert.labels, Labels::from_map(*alert.annotations)});
        }
      }
    }
    for (const AlertTest* test : due) compare_alerts(*test, std::move(got[test->alertname]));
  }

  void compare_alerts(const AlertTest& test, std::vector<LabelsAndAnnotations> got) {
    std::vector<LabelsAndAnnotations> expected;
    for (const ExpectedAlert& alert : test.expected) {
      TextMap labels = alert.labels;
      labels["alertname"] = test.alertname;
      expected.push_back({Labels::from_map(labels), Labels::from_map(alert.annotations)});
    }
    std::sort(got.begin(), got.end());
    std::sort(expected.begin(), expected.end());
    debug(fmt::format("alertname: {}, time: {}, {} firing", test.alertname,
                      format_duration(test.eval_time), got.size()));
    if (expected == got) return;
    fail(alert_failure(test_.name, test.alertname, test.eval_time, expected, got, options_.diff));
  }

  // -- expressions
  // -----------------------------------------------------------------------------------------------
  void check_expr(const ExprTest& test) {
    const auto broken = [&](const Status& status) {
      fail(fmt::format("    expr: {}, time: {}, err: {}", quote(test.expr),
                       format_duration(test.eval_time), status.message()));
    };
    Result<std::vector<TestSample>> got = run_query(test);
    if (!got) return broken(got.error());
    std::vector<TestSample> expected;
    for (const ExpectedSample& sample : test.expected) {
      if (!sample.histogram.empty())
        return broken(Status::invalid("native histogram samples are not supported"));
      Result<Labels> labels = parse_series(sample.labels);
      if (!labels) return broken(std::move(labels).error().at("labels " + quote(sample.labels)));
      expected.push_back({std::move(*labels), sample.value});
    }
    const auto by_labels = [](const TestSample& a, const TestSample& b) {
      return a.labels < b.labels;
    };
    std::stable_sort(expected.begin(), expected.end(), by_labels);
    std::stable_sort(got->begin(), got->end(), by_labels);
    const bool same = std::equal(expected.begin(), expected.end(), got->begin(), got->end(),
                                 [&](const TestSample& a, const TestSample& b) {
                                   return a.labels == b.labels && same_value(a.value, b.value);
                                 });
    debug(fmt::format("expr: {}, time: {}, {} samples", quote(test.expr),
                      format_duration(test.eval_time), got->size()));
    if (!same)
      fail(expr_failure(test_.name, test.expr, test.eval_time, expected, *got, options_.diff));
  }

  bool same_value(double a, double b) const {
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    if (!file_.fuzzy_compare || std::isnan(a) || std::isnan(b)) return false;
    // promtool's tolerance: one step of the last place.
    return std::nextafter(a, -INFINITY) == b || std::nextafter(a, INFINITY) == b;
  }

  Result<std::vector<TestSample>> run_query(const ExprTest& test) {
    VAGT_TRY(query::ExprPtr expr, query::parse_expr(test.expr, options_.parse));
    const query::PlanPtr plan = query::make_plan(std::move(expr));
    VAGT_TRY(const query::QueryResult result,
             query::eval_instant(*plan, *store_, test_.start + test.eval_time, env_->eval));
    std::vector<TestSample> samples;
    if (const auto* scalar = std::get_if<query::ScalarValue>(&result.value)) {
      samples.push_back({Labels(), scalar->v});
      return samples;
    }
    const auto* vector = std::get_if<query::Vector>(&result.value);
    if (vector == nullptr) return Status::invalid("rule result is not a vector or scalar");
    for (const query::VectorSample& sample : *vector) samples.push_back({sample.labels, sample.v});
    return samples;
  }

  const TestFile& file_;
  const TestGroup& test_;
  const RuleTestOptions& options_;
  RuleTestResult& result_;
  std::unique_ptr<tsdb::Store> store_;
  std::shared_ptr<const GroupEnvironment> env_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<TestSeries> input_;
  std::vector<tsdb::SeriesRef> refs_;
  size_t loaded_ = 0;
  std::vector<std::string> failures_;
};

}  // namespace

bool RuleTestResult::ok() const {
  return errors.empty() && std::all_of(tests.begin(), tests.end(), [](const RuleTestCase& test) {
           return test.failures.empty();
         });
}

RuleTestResult run_rule_test_file(const std::string& path, const RuleTestOptions& options) {
  RuleTestResult result;
  result.path = path;
  std::vector<Regex> wanted;
  for (const std::string& pattern : options.run) {
    Result<Regex> regex = Regex::compile(pattern, Regex::Anchor::None);
    if (!regex) {
      result.errors.push_back(regex.error().message());
      return result;
    }
    wanted.push_back(std::move(*regex));
  }
  const Result<TestFile> file = load_test_file(path, options.ignore_unknown_fields);
  if (!file) {
    result.errors.push_back(file.error().message());
    return result;
  }
  for (const TestGroup& test : file->tests) {
    const bool chosen =
        wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const Regex& regex) {
          return regex.find(test.name, 0).has_value();
        });
    if (!chosen) continue;
    std::vector<std::string> failures = TestRun(*file, test, options, result).run();
    result.tests.push_back({test.name, std::move(failures)});
  }
  return result;
}

}  // namespace vagt::rules

#include "cli/replay_export.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "base/number_text.h"
#include "base/sample.h"
#include "cli/prometheus_api.h"
#include "query/functions.h"
#include "rules/group.h"
#include "rules/lint/walk.h"
#include "rules/replay/reads.h"
#include "rules/rule_file.h"
#include "tsdb/memory_store.h"

namespace vagt::cli {
namespace {

using rules::ReplayedAlert;
using rules::ReplayedRule;

constexpr int64_t kMostSteps = 10'000;
constexpr size_t kMostSeries = 5'000;
constexpr Duration kLookback = std::chrono::minutes(5);

struct Chosen {
  const ReplayedRule* rule = nullptr;
  const ReplayedAlert* alert = nullptr;
};

Result<Chosen> choose(const rules::Replay& replay, const std::string& name) {
  Chosen chosen;
  for (const ReplayedRule& rule : replay.rules) {
    if (!name.empty() && rule.name != name) continue;
    for (const ReplayedAlert& alert : rule.alerts) {
      if (chosen.alert == nullptr || alert.fired_at < chosen.alert->fired_at)
        chosen = {&rule, &alert};
    }
  }
  if (chosen.alert == nullptr)
    return Status::not_found("no alert " + (name.empty() ? "" : name + " ") + "fired");
  return chosen;
}

// The instants of the test: the rule's slots around the alert.
struct Grid {
  Timestamp start{};
  Duration interval{};
  int64_t steps = 0, fires = 0, ends = 0;  // ends == steps: it does not within the test
  Timestamp at(int64_t step) const { return start + step * interval; }
};

Grid grid_around(const Chosen& chosen, Duration reach, Timestamp to) {
  const Duration interval = chosen.rule->interval;
  const int64_t lead =
      std::min<int64_t>((reach + kLookback + interval) / interval + 1, kMostSteps / 2);
  Grid grid{chosen.alert->active_at - lead * interval, interval, 0, 0, 0};
  grid.fires = (chosen.alert->fired_at - grid.start) / interval;
  grid.ends = (chosen.alert->resolved_at.value_or(to) - grid.start) / interval;
  grid.steps = std::min(grid.ends + 1, kMostSteps);
  if (!chosen.alert->resolved_at || grid.ends >= grid.steps) grid.ends = grid.steps;
  return grid;
}

// What the rule reads, through the recording rules of its file.
struct Inputs {
  std::set<std::string> selectors;  // as text, without offset and @
  Duration reach{};
  bool compares_with_now = false;  // time() and its like: values that are instants are shifted
};

void collect(const rules::RuleFile& file, const query::Expr& expr, Duration before, int depth,
             Inputs& inputs) {
  constexpr int kMostDepth = 16;
  const rules::ExprReads reads = rules::reads_of(expr);
  inputs.reach = std::max(inputs.reach, before + reads.reach);
  rules::each_node(expr, [&](const query::Expr& node) {
    const auto* call = std::get_if<query::Call>(&node.node);
    if (call != nullptr && (call->function->name == "time" || call->function->name == "timestamp"))
      inputs.compares_with_now = true;
  });
  for (const query::VectorSelector* selector : reads.selectors) {
    bool is_recorded = false;
    for (const rules::RuleGroup& group : file.groups) {
      for (const rules::Rule& rule : group.rules) {
        if (!std::holds_alternative<rules::RecordRule>(rule) || depth > kMostDepth ||
            !rules::may_see(*selector, rule))
          continue;
        is_recorded = true;
        collect(file, rules::rule_expr(rule), before + reads.reach, depth + 1, inputs);
      }
    }
    if (is_recorded) continue;
    query::Expr plain;
    query::VectorSelector bare = *selector;
    bare.shift = {};
    plain.node = std::move(bare);
    plain.type = query::ValueType::Vector;
    inputs.selectors.insert(query::print_expr(plain));
  }
}

using Values = std::vector<std::optional<double>>;  // by step
using SeriesMap = std::map<Labels, Values>;

Status read_series(const boost::json::value& data, const Grid& grid, SeriesMap& out) {
  try {
    for (const auto& series : data.at("result").as_array()) {
      std::map<std::string, std::string> labels;
      for (const auto& entry : series.at("metric").as_object())
        labels[std::string(entry.key())] = std::string(entry.value().as_string());
      Values values(static_cast<size_t>(grid.steps));
      for (const auto& point : series.at("values").as_array()) {
        const auto t = from_millis(std::llround(point.at(0).to_number<double>() * 1000));
        const auto step = (t - grid.start) / grid.interval;
        if (step < 0 || step >= grid.steps) continue;
        values[static_cast<size_t>(step)] =
            parse_float(std::string_view(point.at(1).as_string())).value_or(normal_nan());
      }
      out[Labels::from_map(labels)] = std::move(values);
    }
    return {};
  } catch (const std::exception& failure) {
    return {Code::Unavailable, std::string("the server's answer is no range: ") + failure.what()};
  }
}

Result<SeriesMap> fetch(Context& context, const std::string& url, const Inputs& inputs,
                        const Grid& grid) {
  VAGT_TRY(PrometheusApi api, PrometheusApi::connect(context, url));
  SeriesMap all;
  for (const std::string& selector : inputs.selectors) {
    VAGT_TRY(const auto data,
             api.post("/api/v1/query_range",
                      {{"query", selector},
                       {"start", fmt::format("{:.3f}", to_seconds(grid.start))},
                       {"end", fmt::format("{:.3f}", to_seconds(grid.at(grid.steps - 1)))},
                       {"step", fmt::format("{:.3f}", to_seconds(grid.interval))}}));
    VAGT_CHECK_OK(read_series(data, grid, all));
    if (all.size() > kMostSeries)
      return Status(Code::LimitExceeded,
                    fmt::format("the rule reads more than {} series", kMostSeries));
  }
  return all;
}

// Tests begin at 1970: what is an instant near the alert moves along, so that its age stays.
void shift_instants(const Grid& grid, SeriesMap& series) {
  const double start = to_seconds(grid.start), year = 365.25 * 86400;
  for (auto& [labels, values] : series) {
    for (auto& value : values) {
      if (value && *value > start - 20 * year && *value < start + year) *value -= start;
    }
  }
}

// A gap begins with a marker: without one the last value would reach into it.
template <class Visit>
void each_stored(const Values& values, const Visit& visit) {
  bool was_there = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]) {
      visit(i, *values[i]);
    } else if (was_there) {
      visit(i, stale_marker());
    }
    was_there = values[i].has_value();
  }
}

// The alerts of one name that fire at each of the steps, found by running the file's groups.
using Firing = std::map<int64_t, std::vector<rules::AlertView>>;

Result<Firing> run_groups(const rules::RuleFile& file, const SeriesMap& series, const Grid& grid,
                          const Labels& external, const std::string& name,
                          const std::set<int64_t>& steps) {
  tsdb::MemoryStore store;
  const auto appender = store.import_appender();
  for (const auto& [labels, values] : series) {
    VAGT_TRY(const tsdb::SeriesRef ref, appender->series(labels));
    each_stored(values, [&](size_t i, double v) {
      appender->append(ref, {from_millis(0) + static_cast<int64_t>(i) * grid.interval, v});
    });
  }
  VAGT_CHECK_OK(appender->commit());
  auto environment = std::make_shared<rules::GroupEnvironment>();
  environment->store = &store;
  std::vector<std::unique_ptr<rules::Group>> groups;
  for (const rules::RuleGroup& group : file.groups) {
    groups.push_back(std::make_unique<rules::Group>(
        environment, group,
        rules::GroupSettings{grid.interval, Duration{}, external, grid.interval}));
  }
  Firing firing;
  for (int64_t step = 0; step < grid.steps; ++step) {
    for (const auto& group : groups) {
      group->evaluate(from_millis(0) + step * grid.interval);
      if (steps.count(step) == 0) continue;
      for (const rules::RuleView& rule : group->view().rules) {
        for (const rules::AlertView& alert : rule.alerts) {
          if (rule.name == name && alert.state == AlertState::Firing) firing[step].push_back(alert);
        }
      }
    }
  }
  return firing;
}

std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

// promtool's notation: runs of one value and of nothing are short.
std::string values_text(const Values& values) {
  std::vector<std::pair<std::string, size_t>> runs;
  const auto add = [&](const std::string& text) {
    if (!runs.empty() && runs.back().first == text)
      ++runs.back().second;
    else
      runs.emplace_back(text, 1);
  };
  for (size_t i = 0; i < values.size(); ++i) {
    const bool ends = !values[i] && i > 0 && values[i - 1];
    add(values[i] ? format_float(*values[i]) : ends ? "stale" : "_");
  }
  std::string text;
  for (const auto& [value, n] : runs) {
    if (!text.empty()) text += ' ';
    if (n == 1)
      text += value;
    else if (value == "_")
      text += fmt::format("_x{}", n);
    else
      text += fmt::format("{}+0x{}", value, n - 1);
  }
  return text;
}

std::string test_text(const rules::RuleFile& file, const SeriesMap& series, const Grid& grid,
                      const Labels& external, const std::string& name, const Firing& firing,
                      const std::set<int64_t>& steps, const std::string& title) {
  const std::string interval = format_duration(grid.interval);
  std::string text = "# " + title + "\n";
  text += fmt::format("rule_files: [{}]\nevaluation_interval: {}\ntests:\n  - interval: {}\n",
                      quote(file.path), interval, interval);
  if (!external.empty()) {
    text += "    external_labels:\n";
    for (const Label& l : external.items())
      text += fmt::format("      {}: {}\n", quote(l.name), quote(l.value));
  }
  text += "    input_series:\n";
  for (const auto& [labels, values] : series) {
    text += fmt::format("      - series: {}\n        values: '{}'\n",
                        single_quoted(labels.to_string()), values_text(values));
  }
  text += "    alert_rule_test:\n";
  for (const int64_t step : steps) {
    const auto found = firing.find(step);
    text += fmt::format("      - eval_time: {}\n        alertname: {}\n        exp_alerts:{}\n",
                        format_duration(step * grid.interval), quote(name),
                        found == firing.end() ? " []" : "");
    if (found == firing.end()) continue;
    for (const rules::AlertView& alert : found->second) {
      text += "          - exp_labels:\n";
      for (const Label& l : LabelsBuilder(alert.labels).erase(kAlertName).build().items())
        text += fmt::format("              {}: {}\n", quote(l.name), quote(l.value));
      text += alert.annotations->empty() ? "" : "            exp_annotations:\n";
      for (const auto& [key, note] : *alert.annotations)
        text += fmt::format("              {}: {}\n", quote(key), quote(note));
    }
  }
  return text;
}

bool fires(const Firing& firing, int64_t step, const Labels& labels) {
  const auto found = firing.find(step);
  return found != firing.end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [&](const rules::AlertView& alert) { return alert.labels == labels; });
}

}  // namespace

Status export_test(Context& context, const rules::Replay& replay, const ExportedTest& test) {
  VAGT_TRY(const Chosen chosen, choose(replay, test.alert));
  VAGT_TRY(const rules::RuleFile file, rules::load_rule_file(chosen.rule->file));
  Inputs inputs;
  for (const rules::RuleGroup& group : file.groups) {
    for (const rules::Rule& rule : group.rules) {
      if (rules::rule_name(rule) == chosen.rule->name)
        collect(file, rules::rule_expr(rule), Duration{}, 0, inputs);
    }
  }
  const Grid grid = grid_around(chosen, inputs.reach, replay.to);
  if (grid.fires >= grid.steps)
    return Status(Code::LimitExceeded, "the alert takes too long for a test");
  VAGT_TRY(SeriesMap series, fetch(context, test.url, inputs, grid));
  if (inputs.compares_with_now) shift_instants(grid, series);
  std::set<int64_t> steps{grid.fires - 1, grid.fires};
  if (grid.ends < grid.steps) steps.insert({grid.ends - 1, grid.ends});
  VAGT_TRY(const Firing firing,
           run_groups(file, series, grid, replay.external_labels, chosen.rule->name, steps));
  if (!fires(firing, grid.fires, chosen.alert->labels))
    return Status::invalid(fmt::format("{}: sampled every {}, the series do not make it fire",
                                       chosen.alert->labels.to_string(),
                                       format_duration(grid.interval)));
  std::ofstream out(test.file);
  out << test_text(
      file, series, grid, replay.external_labels, chosen.rule->name, firing, steps,
      fmt::format("{} as of {}", chosen.rule->name, format_rfc3339(chosen.alert->fired_at)));
  return out.flush() ? Status() : Status::io("cannot write " + test.file);
}

}  // namespace vagt::cli

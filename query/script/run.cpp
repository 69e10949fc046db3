#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "query/script/commands.h"
#include "query/script/compare.h"
#include "query/script/script.h"

namespace vagt::query::script {
namespace {

// Where the query's own range shows in its result, an instant query says something else than a step
// of a range.
bool depends_on_range(std::string query) {
  std::transform(query.begin(), query.end(), query.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const std::string_view word : {"start(", "end(", "step(", "range("})
    if (query.find(word) != std::string::npos) return true;
  return false;
}

bool is_name_char(char c) {
  return c == '_' || c == ':' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}
bool mentions(std::string_view query, std::string_view name) {
  for (size_t at = query.find(name); at != std::string_view::npos; at = query.find(name, at + 1)) {
    const bool before = at > 0 && is_name_char(query[at - 1]);
    const size_t end = at + name.size();
    const bool after = end < query.size() && is_name_char(query[end]);
    if (!before && !after) return true;
  }
  return false;
}
// A selector without a name in front of its braces could select anything.
bool selects_by_braces(std::string_view query) {
  if (query.find("__name__") != std::string_view::npos) return true;
  for (size_t at = query.find('{'); at != std::string_view::npos; at = query.find('{', at + 1))
    if (at == 0 || (!is_name_char(query[at - 1]) && query[at - 1] != '}' && query[at - 1] != '"'))
      return true;
  return false;
}

// The native twin of a classic histogram; "" for other metrics.
std::string native_twin(std::string_view name) {
  constexpr std::string_view kSuffix = "_bucket";
  if (name.size() <= kSuffix.size() || name.substr(name.size() - kSuffix.size()) != kSuffix)
    return "";
  return std::string(name.substr(0, name.size() - kSuffix.size()));
}

class Runner {
 public:
  Runner(std::string_view name, const StoreFactory& make_store, const Options& options)
      : make_store_(make_store), options_(options), store_(make_store()) {
    report_.name = name;
  }

  Status run(const Command& command) {
    if (const auto* load = std::get_if<LoadCommand>(&command.what)) return run_load(*load);
    if (const auto* eval = std::get_if<EvalCommand>(&command.what))
      return run_eval(command, *eval), Status();
    store_ = make_store_();
    hidden_.clear();
    start_timestamps_ = false;
    return {};
  }
  FileReport take() { return std::move(report_); }

 private:
  Status run_load(const LoadCommand& load);
  void run_eval(const Command& command, const EvalCommand& eval);
  std::string why_skip(const EvalCommand& eval) const;
  Status check(const EvalCommand& eval) const;
  Status check_as_range(const EvalCommand& eval, const Plan& plan) const;

  const StoreFactory& make_store_;
  const Options& options_;
  std::unique_ptr<tsdb::Store> store_;
  std::set<std::string> hidden_;  // metrics of which native histograms were left out
  bool start_timestamps_ = false;
  FileReport report_;
};

Status Runner::run_load(const LoadCommand& load) {
  std::map<Labels, const SeriesText*> latest;  // the last of equal series wins
  for (const SeriesText& series : load.series) {
    const std::string name(series.labels.get(kMetricName));
    if (series.start_timestamps) start_timestamps_ = true;
    if (series.histograms) hidden_.insert(name);
    if (const std::string twin = native_twin(name); load.with_histograms && !twin.empty())
      hidden_.insert(twin);
    if (!series.histograms && !series.start_timestamps) latest[series.labels] = &series;
  }
  const std::unique_ptr<tsdb::Appender> appender = store_->import_appender();
  for (const auto& [labels, series] : latest) {
    VAGT_TRY(const tsdb::SeriesRef ref, appender->series(labels));
    for (size_t i = 0; i < series->values.size(); ++i) {
      if (!series->values[i]) continue;
      const Timestamp t(load.step * static_cast<int64_t>(i));
      const double v = *series->values[i];
      const bool plain_nan = std::isnan(v) && !is_stale(v);
      const Code code = appender->append(ref, {t, plain_nan ? normal_nan() : v});
      if (code != Code::Ok)
        return Status{
            code, fmt::format("{} at {}: {}", labels.to_string(), to_seconds(t), code_name(code))};
    }
  }
  return appender->commit();
}

std::string Runner::why_skip(const EvalCommand& eval) const {
  if (start_timestamps_) return "start timestamps";
  if (eval.histograms) return "native histogram expected";
  if (hidden_.empty()) return "";
  const bool hit = std::any_of(hidden_.begin(), hidden_.end(),
                               [&](const std::string& name) { return mentions(eval.query, name); });
  return hit || selects_by_braces(eval.query) ? "native histogram loaded" : "";
}

void Runner::run_eval(const Command& command, const EvalCommand& eval) {
  CaseReport report;
  report.line = command.line;
  report.command = command.text;
  report.reason = why_skip(eval);
  if (!report.reason.empty()) {
    report.outcome = Outcome::Skipped;
  } else if (const Status status = check(eval); !status.ok()) {
    report.outcome = Outcome::Failed;
    report.reason = status.message();
  }
  report_.cases.push_back(std::move(report));
}

Status Runner::check(const EvalCommand& eval) const {
  Result<ExprPtr> expr = parse_expr(eval.query, options_.parse);
  if (!expr)
    return eval.fails ? compare_failure(eval, expr.error().message()) : std::move(expr).error();
  const PlanPtr plan = make_plan(std::move(*expr), eval.query);
  const Grid& grid = eval.grid;
  const Result<QueryResult> result =
      eval.instant ? eval_instant(*plan, *store_, grid.start, options_.eval)
                   : eval_range(*plan, *store_, grid.start, grid.end, grid.step, options_.eval);
  if (!result) return eval.fails ? compare_failure(eval, result.error().message()) : result.error();
  if (eval.fails) return Status::invalid("should fail, but succeeded");
  VAGT_CHECK_OK(compare_annotations(eval, *result));
  VAGT_CHECK_OK(compare_value(eval, result->value));
  const bool repeat = eval.instant && options_.also_as_range && !eval.ordered &&
                      !eval.string_result && !eval.matrix_grid && !depends_on_range(eval.query);
  return repeat ? check_as_range(eval, *plan) : Status();
}

Status Runner::check_as_range(const EvalCommand& eval, const Plan& plan) const {
  constexpr Duration kStep = std::chrono::minutes(1);
  const Timestamp at = eval.grid.start;
  Result<QueryResult> result =
      eval_range(plan, *store_, at - kStep, at + kStep, kStep, options_.eval);
  if (!result) return std::move(result).error().at("as a range");
  return compare_step(eval, std::get<Matrix>(result->value), at).at("as a range");
}

}  // namespace

Options default_options() {
  Options options;
  options.parse.experimental_functions = true;
  options.parse.extended_range_selectors = true;
  options.parse.binop_fill_modifiers = true;
  options.eval.delayed_name_removal = true;
  return options;
}

size_t FileReport::count(Outcome outcome) const {
  return static_cast<size_t>(std::count_if(
      cases.begin(), cases.end(), [outcome](const CaseReport& c) { return c.outcome == outcome; }));
}

Result<FileReport> run_script(std::string_view name, std::string_view text,
                              const StoreFactory& make_store, const Options& options) {
  Result<std::vector<Command>> commands = parse_commands(text);
  if (!commands) return Status::invalid(fmt::format("{}:{}", name, commands.error().message()));
  Runner runner(name, make_store, options);
  for (const Command& command : *commands)
    if (Status status = runner.run(command); !status.ok())
      return Status(status.code(), fmt::format("{}:{}: {}", name, command.line, status.message()));
  return runner.take();
}

}  // namespace vagt::query::script

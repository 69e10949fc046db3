#include "rules/replay/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "rules/replay/columnar.h"
#include "rules/replay/lockstep.h"
#include "rules/replay/overlay_store.h"
#include "rules/replay/reads.h"

namespace vagt::rules {
namespace {

constexpr std::string_view kTooManyAlerts = "the rules give more than {} alerts";

class Replayer {
 public:
  Replayer(std::vector<RuleFile> files, const ReplayOptions& options)
      : options_(options),
        results_(options.make_store()),
        store_(*options.history, *results_, options.from),
        environment_(make_environment()) {
    replay_.from = options.from, replay_.to = options.to;
    replay_.external_labels = options.settings.external_labels;
    for (RuleFile& file : files) {
      for (RuleGroup& group : file.groups) groups_.push_back(std::move(group));
    }
  }

  Result<Replay> run(std::stop_token stop) {
    if (options_.clock != nullptr) started_ = options_.clock->steady_now();
    VAGT_CHECK_OK(check());
    list_rules();
    make_stages();
    const Duration piece = piece_length();
    for (Timestamp begin = options_.from; begin <= options_.to; begin += piece) {
      VAGT_CHECK_OK(run_piece(begin, std::min(options_.to, begin + piece - Duration(1)), stop));
    }
    for (Stage& stage : stages_) {
      if (stage.columnar) stage.columnar->finish(options_.to);
      if (stage.lockstep) stage.lockstep->finish(options_.to);
    }
    return std::move(replay_);
  }

 private:
  struct Stage {
    std::unique_ptr<ColumnarGroup> columnar;
    std::unique_ptr<Group> place;  // of a columnar group: tells its slots
    std::unique_ptr<LockstepGroups> lockstep;
  };

  std::shared_ptr<GroupEnvironment> make_environment() {
    auto environment = std::make_shared<GroupEnvironment>();
    environment->store = &store_;
    environment->clock = options_.clock;
    environment->external_url = options_.external_url;
    environment->eval = options_.eval;
    environment->parse = options_.parse;
    environment->max_template_bytes = options_.max_template_bytes;
    return environment;
  }

  Status check() const {
    if (options_.from > options_.to) return Status::invalid("the end is before the beginning");
    if (options_.piece <= Duration{}) return Status::invalid("a piece takes no time");
    std::set<std::pair<std::string, std::string>> names;
    for (const RuleGroup& group : groups_) {
      if (names.emplace(group.file, group.name).second) continue;
      return Status::invalid(
          fmt::format("{}: groupname: {} is repeated", group.file, quote(group.name)));
    }
    return {};
  }

  GroupSettings settings(const RuleGroup& group) const {
    const GlobalRuleSettings& global = options_.settings;
    return {group.interval.value_or(global.evaluation_interval),
            group.query_offset.value_or(global.query_offset), global.external_labels,
            global.evaluation_interval};
  }

  void list_rules() {
    for (const RuleGroup& group : groups_) {
      for (const Rule& rule : group.rules) {
        store_.replaces(rule);
        ReplayedRule& result = replay_.rules.emplace_back();
        result.file = group.file, result.group = group.name, result.name = rule_name(rule);
        result.query = query::print_expr(rule_expr(rule));
        result.labels = rule_labels(rule);
        result.interval = settings(group).interval;
        const auto* alert = std::get_if<AlertRule>(&rule);
        if (alert == nullptr) continue;
        result.alerting = true, result.annotations = alert->annotations;
        result.hold_for = alert->hold_for, result.keep_firing_for = alert->keep_firing_for;
      }
    }
  }

  void make_stages() {
    std::vector<const RuleGroup*> groups;
    std::vector<std::vector<ReplayedRule*>> results;
    size_t rule = 0;
    for (const RuleGroup& group : groups_) {
      groups.push_back(&group);
      std::vector<ReplayedRule*>& list = results.emplace_back();
      for (size_t i = 0; i < group.rules.size(); ++i) list.push_back(&replay_.rules[rule++]);
    }
    for (const ReplayStage& planned : replay_stages(groups)) {
      Stage& stage = stages_.emplace_back();
      if (planned.in_lockstep) {
        stage.lockstep = std::make_unique<LockstepGroups>();
        auto environment = std::make_shared<GroupEnvironment>(*environment_);
        environment->sink = &stage.lockstep->sink();
        for (const size_t i : planned.groups) {
          stage.lockstep->add(
              std::make_unique<Group>(environment, groups_[i], settings(groups_[i])), results[i]);
        }
        continue;
      }
      const size_t i = planned.groups.front();
      GroupEnvironment environment = *environment_;
      environment.eval.default_subquery_step = settings(groups_[i]).subquery_step;
      stage.columnar = std::make_unique<ColumnarGroup>(environment, groups_[i],
                                                       settings(groups_[i]), results[i]);
      stage.place = std::make_unique<Group>(environment_, groups_[i], settings(groups_[i]));
    }
  }

  // A query over a piece reads the time before it too: pieces are long against that.
  Duration piece_length() const {
    Duration reach{};
    for (const RuleGroup& group : groups_) {
      for (const Rule& rule : group.rules) reach = std::max(reach, reads_of(rule_expr(rule)).reach);
    }
    return std::max(options_.piece, 4 * reach);
  }

  Status run_piece(Timestamp begin, Timestamp end, const std::stop_token& stop) {
    for (size_t i = 0; i < stages_.size(); ++i) {
      VAGT_CHECK_OK(check_limits());
      Stage& stage = stages_[i];
      if (stage.lockstep) {
        VAGT_CHECK_OK(stage.lockstep->run(begin, end, stop, options_.max_alerts));
      } else {
        const Duration interval = stage.place->settings().interval;
        const Timestamp first = stage.place->slot_at_or_before(begin - Duration(1)) + interval;
        const auto count = first > end ? 0 : (end - first) / interval + 1;
        VAGT_CHECK_OK(stage.columnar->run({first, static_cast<size_t>(count), interval}, stop));
      }
      tell_progress(begin, end, static_cast<double>(i + 1) / static_cast<double>(stages_.size()));
    }
    return {};
  }

  void tell_progress(Timestamp begin, Timestamp end, double part) const {
    if (!options_.progress) return;
    const double whole = to_seconds(options_.to - options_.from) + 1e-3;
    const double done = to_seconds(begin - options_.from) + part * (to_seconds(end - begin) + 1e-3);
    options_.progress(std::min(1.0, done / whole));
  }

  Status check_limits() const {
    size_t alerts = 0;
    for (const Stage& stage : stages_)
      alerts += stage.lockstep ? stage.lockstep->alerts() : stage.columnar->alerts();
    if (alerts > options_.max_alerts)
      return {Code::LimitExceeded, fmt::format(kTooManyAlerts, options_.max_alerts)};
    if (options_.clock == nullptr || options_.timeout <= Duration{}) return {};
    if (options_.clock->steady_now() - started_ < options_.timeout) return {};
    return {Code::Timeout,
            fmt::format("the replay took longer than {}", format_duration(options_.timeout))};
  }

  const ReplayOptions& options_;
  const std::unique_ptr<tsdb::Store> results_;
  OverlayStore store_;
  const std::shared_ptr<const GroupEnvironment> environment_;
  std::vector<RuleGroup> groups_;
  Replay replay_;
  std::vector<Stage> stages_;
  std::chrono::steady_clock::time_point started_{};
};

}  // namespace

Result<Replay> replay_rules(std::vector<RuleFile> files, const ReplayOptions& options,
                            std::stop_token stop) {
  return Replayer(std::move(files), options).run(std::move(stop));
}

}  // namespace vagt::rules

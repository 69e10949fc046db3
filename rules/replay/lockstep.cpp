#include "rules/replay/lockstep.h"

#include <algorithm>

#include "rules/rule_output.h"

namespace vagt::rules {
namespace {

// Groups give out alerts with the external labels filled in.
Labels without_external_labels(const Labels& labels, const Labels& external) {
  if (external.empty()) return labels;
  LabelsBuilder builder(labels);
  for (const Label& label : external.items()) {
    if (labels.get(label.name) == label.value) builder.erase(label.name);
  }
  return builder.build();
}

// Rules of one name and one expression are told apart by their labels.
bool may_be_of(const Alert& alert, const ReplayedRule& rule) {
  if (alert.labels.get(kAlertName) != rule.name) return false;
  return std::all_of(rule.labels.begin(), rule.labels.end(), [&](const auto& label) {
    return label.second.find("{{") != std::string::npos ||
           alert.labels.get(label.first) == label.second;
  });
}

}  // namespace

void LockstepGroups::add(std::unique_ptr<Group> group, std::vector<ReplayedRule*> results) {
  Member& member = members_.emplace_back();
  member.group = std::move(group);
  member.results = std::move(results);
  member.collectors.resize(member.results.size());
  for (const ReplayedRule* rule : member.results)
    member.urls.push_back(generator_url("", rule->query));
}

Status LockstepGroups::run(Timestamp from, Timestamp to, std::stop_token stop, size_t max_alerts) {
  std::vector<Timestamp> next;
  for (const Member& member : members_) {
    const Timestamp before = member.group->slot_at_or_before(from - Duration(1));
    next.push_back(before + member.group->settings().interval);
  }
  while (true) {
    const auto first = std::min_element(next.begin(), next.end());
    if (first == next.end() || *first > to) return {};
    if (stop.stop_requested()) return {Code::Cancelled, "stopped"};
    Member& member = members_[static_cast<size_t>(first - next.begin())];
    evaluate(member, *first, stop);
    *first += member.group->settings().interval;
    if (alerts() > max_alerts) return {Code::LimitExceeded, "too many alerts"};
  }
}

void LockstepGroups::evaluate(Member& member, Timestamp slot, const std::stop_token& stop) {
  current_ = &member;
  const GroupCounts counts = member.group->evaluate(slot, stop);
  current_ = nullptr;
  for (ReplayedRule* rule : member.results) ++rule->evaluations;
  if (counts.failures == 0) return;
  const GroupView view = member.group->view();
  for (size_t i = 0; i < view.rules.size(); ++i) {
    if (view.rules[i].health != RuleHealth::Bad) continue;
    ++member.results[i]->failures;
    member.results[i]->last_error = view.rules[i].last_error;
    if (view.rules[i].alerts.empty()) member.collectors[i].end_all(slot);  // over the limit
  }
}

void LockstepGroups::publish(std::span<const Alert> alerts) {
  for (const Alert& heard : alerts) {
    Alert alert = heard;
    alert.labels =
        without_external_labels(alert.labels, current_->group->settings().external_labels);
    for (size_t i = 0; i < current_->results.size(); ++i) {
      if (!current_->results[i]->alerting || !heard.generator_url.ends_with(current_->urls[i]) ||
          !may_be_of(heard, *current_->results[i]))
        continue;
      current_->collectors[i].hear(alert);
      break;
    }
  }
}

size_t LockstepGroups::alerts() const {
  size_t sum = 0;
  for (const Member& member : members_) {
    for (const AlertCollector& collector : member.collectors) sum += collector.size();
  }
  return sum;
}

void LockstepGroups::finish(Timestamp to) {
  for (Member& member : members_) {
    for (size_t i = 0; i < member.results.size(); ++i)
      member.results[i]->alerts = member.collectors[i].finish(to);
  }
}

}  // namespace vagt::rules

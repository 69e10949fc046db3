#include "notify/inhibit.h"

#include <algorithm>

namespace vagt::notify {

Inhibitor::Inhibitor(std::vector<InhibitRuleConfig> rules) {
  for (InhibitRuleConfig& rule : rules) {
    rules_.emplace_back().config = std::make_shared<const InhibitRuleConfig>(std::move(rule));
  }
}

Inhibitor::Sources& Inhibitor::Rule::own() {
  if (shared) sources = std::make_shared<Sources>(*sources);
  shared = false;
  return *sources;
}

Inhibitor Inhibitor::share() {
  for (Rule& rule : rules_) rule.shared = true;
  return *this;
}

std::string Inhibitor::equal_key(const InhibitRuleConfig& rule, const Labels& labels) {
  std::string key;
  for (const std::string& name : rule.equal) key.append(labels.get(name)).push_back('\xff');
  return key;
}

void Inhibitor::update(const AlertPtr& alert) {
  for (Rule& rule : rules_) {
    if (!matches_all(rule.config->source_matchers, alert->labels)) continue;
    auto& sources = rule.own()[equal_key(*rule.config, alert->labels)];
    const auto known = std::find_if(sources.begin(), sources.end(),
                                    [&](const AlertPtr& s) { return s->labels == alert->labels; });
    if (known != sources.end()) {
      *known = alert;
    } else {
      sources.push_back(alert);
    }
  }
}

void Inhibitor::collect_garbage(Timestamp now) {
  for (Rule& rule : rules_) {
    Sources& sources = rule.own();
    for (auto it = sources.begin(); it != sources.end();) {
      std::erase_if(it->second, [&](const AlertPtr& s) { return s->resolved(now); });
      it = it->second.empty() ? sources.erase(it) : std::next(it);
    }
  }
}

std::optional<uint64_t> Inhibitor::inhibited_by(const Labels& labels, Timestamp now) const {
  for (const Rule& rule : rules_) {
    if (rule.sources->empty() || !matches_all(rule.config->target_matchers, labels)) continue;
    const auto found = rule.sources->find(equal_key(*rule.config, labels));
    if (found == rule.sources->end()) continue;
    // An alert on both sides is not muted by another that is on both sides, itself included.
    const bool two_sided = matches_all(rule.config->source_matchers, labels);
    for (const AlertPtr& source : found->second) {
      if (source->resolved(now)) continue;
      if (two_sided && matches_all(rule.config->target_matchers, source->labels)) continue;
      return source->fingerprint();
    }
  }
  return std::nullopt;
}

}  // namespace vagt::notify

// What the API asks the dispatcher.
#include <algorithm>
#include <set>

#include "base/regex.h"
#include "notify/dispatcher.h"

namespace vagt::notify {
namespace {

std::vector<std::string> receiver_names(const std::vector<const Route*>& routes) {
  std::vector<std::string> out;
  out.reserve(routes.size());
  for (const Route* route : routes) out.push_back(route->options().receiver);
  return out;
}

// Which receivers a query selects, each receiver's answer found once.
class ReceiverFilter {
 public:
  ReceiverFilter(const AlertQuery& query, const CompiledConfig& config) : config_(config) {
    all_ = query.receiver.empty() && query.receiver_matchers.empty();
    if (!query.receiver.empty()) {
      if (auto regex = Regex::compile(query.receiver); regex.ok()) {
        name_ = std::make_unique<Regex>(std::move(regex).value());
      }
    }
    matchers_ = query.receiver_matchers;
  }

  bool takes(const std::string& name) const {
    if (all_) return true;
    const auto [it, fresh] = known_.try_emplace(name, false);
    if (fresh) it->second = (name_ == nullptr || name_->matches(name)) && labels_match(name);
    return it->second;
  }
  bool takes_any(const std::vector<std::string>& names) const {
    if (all_) return true;
    return std::any_of(names.begin(), names.end(), [&](const auto& name) { return takes(name); });
  }

 private:
  bool labels_match(const std::string& name) const {
    if (matchers_.empty()) return true;
    const auto it = config_.receivers.find(name);
    return it != config_.receivers.end() &&
           matches_all(matchers_, Labels::from_map(it->second.labels));
  }
  const CompiledConfig& config_;
  bool all_ = true;
  std::unique_ptr<Regex> name_;
  std::vector<Matcher> matchers_;
  mutable std::map<std::string, bool> known_;
};

}  // namespace

AlertStatusView Dispatcher::status_of(const AlertPtr& alert, Timestamp now) const {
  AlertStatusView status;
  status.silenced_by = silences_.silencing(alert->labels, now);
  if (const auto source = inhibitor_.inhibited_by(alert->labels, now)) {
    status.inhibited_by.push_back(fingerprint_text(*source));
  }
  if (!status.silenced_by.empty() || !status.inhibited_by.empty()) status.state = "suppressed";
  return status;
}

bool Dispatcher::passes(const AlertQuery& query, const AlertView& view, Timestamp) const {
  if (!query.active && view.status.state == "active") return false;
  if (!query.silenced && !view.status.silenced_by.empty()) return false;
  return query.inhibited || view.status.inhibited_by.empty();
}

std::vector<AlertView> Dispatcher::alerts(const AlertQuery& query, Timestamp now) const {
  std::vector<AlertView> out;
  if (config_ == nullptr) return out;
  const ReceiverFilter receivers(query, *config_);
  for (const auto& [fingerprint, slot] : alerts_) {
    if (slot.alert->resolved(now) || !matches_all(query.filters, slot.alert->labels)) continue;
    AlertView view;
    view.receivers = receiver_names(slot.routes);
    if (!receivers.takes_any(view.receivers)) continue;
    view.alert = slot.alert;
    view.status = status_of(slot.alert, now);
    if (passes(query, view, now)) out.push_back(std::move(view));
  }
  std::sort(out.begin(), out.end(), [](const AlertView& a, const AlertView& b) {
    return a.alert->fingerprint() < b.alert->fingerprint();
  });
  return out;
}

std::vector<GroupView> Dispatcher::groups(const AlertQuery& query, Timestamp now) const {
  std::vector<GroupView> out;
  if (config_ == nullptr) return out;
  const ReceiverFilter receivers(query, *config_);
  // By alert: the receivers of the groups that this answer shows, one for each group.
  std::unordered_map<uint64_t, std::multiset<std::string>> reached;
  for (const auto& [id, group] : groups_) {
    const RouteOptions& options = group->route().options();
    if (!receivers.takes(options.receiver)) continue;
    std::vector<std::string> muted_by;
    const bool muted = muted_by_time(*group, now, &muted_by);
    if (muted && !query.muted) continue;
    GroupView view;
    std::vector<AlertPtr> kept;
    for (const auto& [fingerprint, alert] : group->alerts()) {
      if (!alert->resolved(now) && matches_all(query.filters, alert->labels)) kept.push_back(alert);
    }
    sort_for_payload(kept);
    for (const AlertPtr& alert : kept) {
      AlertView one;
      one.alert = alert;
      one.status = status_of(alert, now);
      one.status.muted_by = muted_by;
      if (muted) one.status.state = "suppressed";
      if (!passes(query, one, now)) continue;
      reached[alert->fingerprint()].insert(options.receiver);
      view.alerts.push_back(std::move(one));
    }
    if (view.alerts.empty()) continue;
    view.labels = group->labels();
    view.receiver = options.receiver;
    if (!options.labels.empty())
      view.route_labels = make_notification(*group, kept, now).route_labels;
    out.push_back(std::move(view));
  }
  for (GroupView& group : out) {
    for (AlertView& alert : group.alerts) {
      const auto& names = reached[alert.alert->fingerprint()];
      alert.receivers.assign(names.begin(), names.end());
    }
  }
  std::sort(out.begin(), out.end(), [](const GroupView& a, const GroupView& b) {
    if (a.labels == b.labels) return a.receiver < b.receiver;
    return label_set_before(a.labels, b.labels);
  });
  return out;
}

void Dispatcher::update_silence_gauges(Timestamp now) {
  double counts[3] = {0, 0, 0};
  for (const auto& [id, silence] : silences_.all())
    counts[static_cast<size_t>(silence.state(now))] += 1;
  metrics_.silences_expired.set(counts[static_cast<size_t>(SilenceState::Expired)]);
  metrics_.silences_active.set(counts[static_cast<size_t>(SilenceState::Active)]);
  metrics_.silences_pending.set(counts[static_cast<size_t>(SilenceState::Pending)]);
}

void Dispatcher::update_gauges(Timestamp now) {
  // Costs a look at every alert: seldom enough not to matter.
  constexpr Duration kEvery = std::chrono::seconds(15);
  next_gauges_ = now + kEvery;
  update_silence_gauges(now);
  metrics_.groups.set(static_cast<double>(groups_.size()));
  double active = 0, suppressed = 0;
  for (const auto& [fingerprint, slot] : alerts_) {
    if (slot.alert->resolved(now)) continue;
    (status_of(slot.alert, now).state == "active" ? active : suppressed) += 1;
  }
  metrics_.alerts_active.set(active);
  metrics_.alerts_suppressed.set(suppressed);
  metrics_.alerts_unprocessed.set(0);
}

}  // namespace vagt::notify

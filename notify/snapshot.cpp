#include "notify/snapshot.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/regex.h"

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

bool passes(const AlertQuery& query, const AlertStatusView& status) {
  if (!query.active && status.state == "active") return false;
  if (!query.silenced && !status.silenced_by.empty()) return false;
  return query.inhibited || status.inhibited_by.empty();
}

// The group's alerts that the query shows, in payload order.
std::vector<AlertPtr> asked_for(const Snapshot::HeldGroup& group, const AlertQuery& query,
                                Timestamp now) {
  std::vector<AlertPtr> out;
  for (const AlertPtr& alert : group.alerts) {
    if (!alert->resolved(now) && matches_all(query.filters, alert->labels)) out.push_back(alert);
  }
  sort_for_payload(out);
  return out;
}

}  // namespace

AlertStatusView alert_status(const SilenceStore& silences, const Inhibitor& inhibitor,
                             const Labels& labels, Timestamp now) {
  AlertStatusView status;
  status.silenced_by = silences.silencing(labels, now);
  if (const auto source = inhibitor.inhibited_by(labels, now)) {
    status.inhibited_by.push_back(fingerprint_text(*source));
  }
  if (!status.silenced_by.empty() || !status.inhibited_by.empty()) status.state = "suppressed";
  return status;
}

std::vector<AlertView> Snapshot::alert_views(const AlertQuery& query, Timestamp now) const {
  std::vector<AlertView> out;
  if (config == nullptr) return out;
  const ReceiverFilter receivers(query, *config);
  for (const RoutedAlert& routed : alerts) {
    const NotifyAlert& alert = *routed.alert;
    if (alert.resolved(now) || !matches_all(query.filters, alert.labels)) continue;
    AlertView view;
    view.receivers = receiver_names(*routed.routes);
    if (!receivers.takes_any(view.receivers)) continue;
    view.alert = routed.alert;
    view.status = alert_status(*silences, inhibitor, alert.labels, now);
    if (passes(query, view.status)) out.push_back(std::move(view));
  }
  std::sort(out.begin(), out.end(), [](const AlertView& a, const AlertView& b) {
    return a.alert->fingerprint() < b.alert->fingerprint();
  });
  return out;
}

std::vector<GroupView> Snapshot::group_views(const AlertQuery& query, Timestamp now) const {
  std::vector<GroupView> out;
  if (config == nullptr) return out;
  const ReceiverFilter receivers(query, *config);
  // By alert: the receivers of the groups that this answer shows, one for each group.
  std::unordered_map<uint64_t, std::multiset<std::string>> reached;
  for (const HeldGroup& group : groups) {
    const RouteOptions& options = group.route->options();
    if (!receivers.takes(options.receiver)) continue;
    std::vector<std::string> muted_by;
    const bool muted = muted_by_time(*config, options, now, &muted_by);
    if (muted && !query.muted) continue;
    GroupView view;
    const std::vector<AlertPtr> kept = asked_for(group, query, now);
    for (const AlertPtr& alert : kept) {
      AlertView one;
      one.alert = alert;
      one.status = alert_status(*silences, inhibitor, alert->labels, now);
      one.status.muted_by = muted_by;
      if (muted) one.status.state = "suppressed";
      if (!passes(query, one.status)) continue;
      reached[alert->fingerprint()].insert(options.receiver);
      view.alerts.push_back(std::move(one));
    }
    if (view.alerts.empty()) continue;
    view.labels = group.labels;
    view.receiver = options.receiver;
    if (!options.labels.empty()) {
      view.route_labels = group_notification(*config, *group.route, group.labels, group.key, kept,
                                             external_url, now)
                              .route_labels;
    }
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

}  // namespace vagt::notify

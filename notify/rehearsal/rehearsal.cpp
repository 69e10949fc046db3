#include "notify/rehearsal/rehearsal.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "notify/group.h"
#include "notify/inhibit.h"
#include "notify/route.h"

namespace vagt::notify {
namespace {

constexpr Timestamp kNeverEnds = from_millis(int64_t{1} << 52);

const NamedTimeInterval* find_interval(const Config& config, const std::string& name) {
  const auto found =
      std::find_if(config.time_intervals.begin(), config.time_intervals.end(),
                   [&](const NamedTimeInterval& interval) { return interval.name == name; });
  return found == config.time_intervals.end() ? nullptr : &*found;
}

class Rehearsal {
 public:
  Rehearsal(const Config& config, const std::vector<RehearsedAlert>& alerts,
            const std::vector<Silence>& silences)
      : config_(config),
        alerts_(alerts),
        root_(Route::build(config.route)),
        inhibitor_(config.inhibit_rules),
        silences_(SilenceLimits{}, std::chrono::hours(24 * 365 * 100)) {
    for (const Silence& silence : silences) silences_.restore(silence);
    for (const ReceiverConfig& receiver : config.receivers) receivers_[receiver.name] = &receiver;
    order_.resize(alerts.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return alerts[a].from < alerts[b].from; });
  }

  std::vector<RehearsedMessage> run(Timestamp end) {
    auto next = order_.begin();
    while (true) {
      const Timestamp due = next_due();
      const Timestamp arrival = next == order_.end() ? kNeverEnds : alerts_[*next].from;
      const Timestamp now = std::min(due, arrival);
      if (now > end) return std::move(messages_);
      // Alerts before flushes: one that comes at the instant of a flush is in it.
      for (; next != order_.end() && alerts_[*next].from <= now; ++next) receive(*next, now);
      if (due <= now) flush_due(now);
    }
  }

 private:
  Timestamp next_due() const {
    Timestamp due = kNeverEnds;
    for (const auto& [id, group] : groups_) due = std::min(due, group.timer().due);
    return due;
  }

  // The record says already when it will be over: what looks at it asks with the time.
  void receive(size_t index, Timestamp now) {
    const RehearsedAlert& given = alerts_[index];
    NotifyAlert record;
    record.labels = given.labels;
    record.starts_at = record.updated_at = given.from;
    record.ends_at = given.to.value_or(kNeverEnds);
    record.known_fingerprint = record.labels.fingerprint();
    const auto alert = std::make_shared<const NotifyAlert>(std::move(record));
    current_[alert->fingerprint()] = index;
    inhibitor_.update(alert);
    for (const Route* route : root_->match(given.labels)) {
      Group fresh(*route, route->group_labels(given.labels), now);
      const std::string id = fresh.id();
      groups_.try_emplace(id, std::move(fresh)).first->second.insert(alert, now);
    }
  }

  void flush_due(Timestamp now) {
    for (auto it = groups_.begin(); it != groups_.end();) {
      if (it->second.timer().due <= now) flush(it->second, now);
      it = it->second.empty() ? groups_.erase(it) : std::next(it);
    }
  }

  void flush(Group& group, Timestamp now) {
    std::vector<AlertPtr> alerts = group.begin_flush(now);
    std::erase_if(alerts, [&](const AlertPtr& alert) {
      return inhibitor_.inhibited_by(alert->labels, now) ||
             silences_.is_silenced(alert->labels, now);
    });
    if (!alerts.empty() && !is_muted(group.route().options(), now)) tell(group, alerts, now);
    group.end_flush(true);
  }

  bool is_muted(const RouteOptions& route, Timestamp now) const {
    const auto holds = [&](const std::string& name) {
      const NamedTimeInterval* interval = find_interval(config_, name);
      return interval != nullptr && interval->contains(now);
    };
    const auto& mute = route.mute_time_intervals;
    const auto& active = route.active_time_intervals;
    if (std::any_of(mute.begin(), mute.end(), holds)) return true;
    return !active.empty() && std::none_of(active.begin(), active.end(), holds);
  }

  void tell(const Group& group, const std::vector<AlertPtr>& alerts, Timestamp now) {
    const RouteOptions& route = group.route().options();
    const auto receiver = receivers_.find(route.receiver);
    if (receiver == receivers_.end() || receiver->second->integrations.empty()) return;
    const auto& integrations = receiver->second->integrations;
    const bool send_resolved =
        std::any_of(integrations.begin(), integrations.end(), sends_resolved);
    LogEntry entry;
    RehearsedMessage message{now, route.receiver, group.labels(), NotifyReason::None, {}};
    for (const AlertPtr& alert : alerts) {
      const bool is_over = alert->resolved(now);
      (is_over ? entry.resolved : entry.firing).push_back(alert->fingerprint());
      if (!is_over) message.firing.push_back(current_.at(alert->fingerprint()));
    }
    std::sort(entry.firing.begin(), entry.firing.end());
    std::sort(entry.resolved.begin(), entry.resolved.end());
    const auto last = log_.find(group.id());
    message.reason = needs_notification(last == log_.end() ? nullptr : &last->second, entry.firing,
                                        entry.resolved, send_resolved, route.repeat_interval, now);
    if (message.reason == NotifyReason::None) return;
    // Nothing was firing in what was said last: for the reader the group opens.
    if (message.reason == NotifyReason::NewAlerts && last->second.firing.empty())
      message.reason = NotifyReason::First;
    entry.sent_at = now;
    log_[group.id()] = std::move(entry);
    if (!message.firing.empty() || send_resolved) messages_.push_back(std::move(message));
  }

  const Config& config_;
  const std::vector<RehearsedAlert>& alerts_;
  const std::unique_ptr<const Route> root_;
  Inhibitor inhibitor_;
  SilenceStore silences_;
  std::map<std::string, const ReceiverConfig*> receivers_;
  std::vector<size_t> order_;                     // of arrival
  std::unordered_map<uint64_t, size_t> current_;  // by fingerprint: the alert that came last
  std::map<std::string, Group> groups_;
  std::unordered_map<std::string, LogEntry> log_;
  std::vector<RehearsedMessage> messages_;
};

}  // namespace

std::vector<RehearsedMessage> rehearse(const Config& config,
                                       const std::vector<RehearsedAlert>& alerts, Timestamp end,
                                       const std::vector<Silence>& silences) {
  return Rehearsal(config, alerts, silences).run(end);
}

}  // namespace vagt::notify

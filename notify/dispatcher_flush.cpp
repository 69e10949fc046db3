// One flush of a group: suppress, ask the log, send through every integration, write the log.
#include <algorithm>
#include <iterator>

#include "notify/dispatcher.h"
#include "notify/store_keys.h"

namespace vagt::notify {
namespace {

// The log outlives the retention where repeats are rarer than that: else they would come early.
Duration log_life(Duration retention, Duration repeat_interval) {
  return std::max(retention, 2 * repeat_interval);
}

// Of ascending lists.
std::vector<uint64_t> united(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  std::vector<uint64_t> out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
bool intersect(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](uint64_t fingerprint) {
    return std::binary_search(b.begin(), b.end(), fingerprint);
  });
}

}  // namespace

struct Dispatcher::Flush {
  std::string group_id, group_key, receiver;
  std::shared_ptr<const CompiledConfig> config;  // keeps routes, notifiers and templates alive
  std::vector<AlertPtr> alerts;
  Notification base;
  Duration repeat_interval{};
  Timestamp deadline{};
  int pending = 1;  // the dispatcher itself until all integrations are started
  bool ok = true;
};

void Dispatcher::flush(Group& group, Timestamp now) {
  if (group.empty()) {
    remove_group(group.id());
    return;
  }
  auto flush = std::make_shared<Flush>();
  flush->group_id = group.id();
  flush->group_key = group.key();
  flush->config = config_;
  flush->receiver = group.route().options().receiver;
  flush->repeat_interval = group.route().options().repeat_interval;
  flush->deadline = now + group.flush_timeout();
  flush->alerts = unsuppressed(group, group.begin_flush(now), now);
  save_timer(group);
  schedule(group);
  ++under_way_[flush->group_id];
  if (const auto receiver = config_->receivers.find(flush->receiver);
      receiver != config_->receivers.end() && !flush->alerts.empty()) {
    flush->base = group_notification(*config_, group.route(), group.labels(), group.key(),
                                     flush->alerts, options_.external_url, now);
    for (const auto& integration : receiver->second.integrations) notify(flush, integration, now);
  }
  end(flush);
}

std::vector<AlertPtr> Dispatcher::unsuppressed(const Group& group, std::vector<AlertPtr> alerts,
                                               Timestamp now) {
  const size_t all = alerts.size();
  std::erase_if(alerts, [&](const AlertPtr& a) {
    return inhibitor_.inhibited_by(a->labels, now).has_value();
  });
  if (alerts.size() < all) metrics_.suppressed("inhibition", all - alerts.size());
  if (alerts.empty()) return alerts;
  if (muted_by_time(*config_, group.route().options(), now, nullptr)) {
    const bool by_mute = group.route().options().active_time_intervals.empty();
    metrics_.suppressed(by_mute ? "mute_time_interval" : "active_time_interval", alerts.size());
    return {};
  }
  const size_t before = alerts.size();
  std::erase_if(alerts, [&](const AlertPtr& a) { return silences_.is_silenced(a->labels, now); });
  if (alerts.size() < before) metrics_.suppressed("silence", before - alerts.size());
  return alerts;
}

void Dispatcher::notify(const std::shared_ptr<Flush>& flush,
                        const CompiledConfig::Receiver::Integration& integration, Timestamp now) {
  const std::string key =
      log_key(flush->group_key, flush->receiver, integration.name, integration.position);
  LogEntry entry;
  for (const NotificationAlert& item : flush->base.alerts) {
    (item.firing ? entry.firing : entry.resolved).push_back(item.alert->fingerprint());
  }
  std::sort(entry.firing.begin(), entry.firing.end());
  std::sort(entry.resolved.begin(), entry.resolved.end());
  const LogEntry* last = log_entries_.find(key);
  NotifyReason reason = needs_notification(last, entry.firing, entry.resolved,
                                           integration.send_resolved, flush->repeat_interval, now);
  const auto interrupted = interrupted_.find(key);
  const bool was_interrupted = interrupted != interrupted_.end();
  // What may have been told before a kill, and is not on record, has to be told that it is over.
  if (reason == NotifyReason::None && was_interrupted && entry.firing.empty() &&
      !interrupted->second.firing.empty()) {
    reason = NotifyReason::AllResolved;
  }
  if (reason == NotifyReason::None) return;
  if (last != nullptr) entry.receiver_data = last->receiver_data;

  DeliveryJob job;
  job.notifier = integration.notifier;
  job.templates = flush->config->templates;
  job.integration = integration.name;
  job.deadline = flush->deadline;
  job.notification = flush->base;
  job.notification.reason = reason;
  // A message of an incident that is over is not edited when the group fires anew.
  if (last != nullptr && !last->firing.empty())
    job.notification.receiver_data = last->receiver_data;
  auto& alerts = job.notification.alerts;
  if (!integration.send_resolved) {
    std::erase_if(alerts, [](const NotificationAlert& a) { return !a.firing; });
  }
  const Duration life = log_life(options_.data_retention, flush->repeat_interval);
  if (alerts.empty()) {
    entry.sent_at = now;
    entry.expires_at = now + life;
    record(key, std::move(entry));
    return;
  }
  if (const size_t limit = integration.notifier->max_alerts(); limit > 0 && alerts.size() > limit) {
    job.notification.truncated_alerts = alerts.size() - limit;
    alerts.resize(limit);
  }
  // Written while the provider thinks: after a kill it tells that the page may have arrived.
  LogEntry sending = entry;  // all that may have been told without being on record
  if (was_interrupted) {
    const LogEntry& before = interrupted->second;
    job.notification.perhaps_repeated = entry.firing.empty()
                                            ? intersect(entry.resolved, before.resolved)
                                            : intersect(entry.firing, before.firing);
    sending.firing = united(entry.firing, before.firing);
    sending.resolved = united(entry.resolved, before.resolved);
    interrupted_.erase(interrupted);
  }
  batch_.put(sending_key(key), encode_log_entry(sending));
  ++flush->pending;
  deliveries_.start(
      std::move(job),
      [this, flush, key, entry, life, sending, was_interrupted,
       integration](DeliveryResult result) mutable {
        if (!result.sent && was_interrupted) {
          interrupted_[key] = std::move(sending);  // still nobody knows
        } else {
          batch_.erase(sending_key(key));
        }
        if (result.sent) {
          entry.sent_at = now_;
          entry.expires_at = now_ + life;
          entry.receiver_data = result.receiver_data;
          record(key, std::move(entry));
        } else {
          flush->ok = false;
        }
        remember(*flush, integration, result, now_);
        end(flush);
      },
      now);
}

void Dispatcher::record(const std::string& key, LogEntry entry) {
  batch_.put(log_key_of(key), encode_log_entry(entry));
  log_entries_.put(key, std::move(entry));
  metrics_.log_entries.set(static_cast<double>(log_entries_.size()));
  ++recorded_;
}

void Dispatcher::remember(const Flush& flush,
                          const CompiledConfig::Receiver::Integration& integration,
                          const DeliveryResult& result, Timestamp now) {
  log_outcome(flush, integration, result, now);
  recent_.push_back({flush.receiver, integration.name, flush.group_key, now, result.sent,
                     result.failed_attempts, result.detail, result.problems});
  if (recent_.size() > options_.recent_deliveries) recent_.pop_front();
}

// Failures, their end, and pages that went out in another form than was meant.
void Dispatcher::log_outcome(const Flush& flush,
                             const CompiledConfig::Receiver::Integration& integration,
                             const DeliveryResult& result, Timestamp now) {
  const auto who =
      std::make_pair(flush.receiver, fmt::format("{}[{}]", integration.name, integration.position));
  const auto trouble = troubles_.find(who);
  if (!result.sent) {
    Trouble& entry = troubles_.try_emplace(who, Trouble{now, 0}).first->second;
    ++entry.failed;
    log_.error("notification failed", {{"receiver", flush.receiver},
                                       {"integration", integration.name},
                                       {"group", flush.group_key},
                                       {"attempts", result.attempts},
                                       {"reason", result.reason},
                                       {"error", result.detail}});
  } else if (trouble != troubles_.end()) {
    log_.info("receiver works again", {{"receiver", flush.receiver},
                                       {"integration", integration.name},
                                       {"failed_notifications", trouble->second.failed},
                                       {"failing_since", format_rfc3339(trouble->second.since)}});
    troubles_.erase(trouble);
  } else if (result.failed_attempts > 0) {
    log_.info("notification sent after failed attempts",
              {{"receiver", flush.receiver},
               {"integration", integration.name},
               {"failed_attempts", result.failed_attempts}});
  }
  for (const std::string& problem : result.problems) {
    log_.warn(
        "notification sent in a plain form",
        {{"receiver", flush.receiver}, {"integration", integration.name}, {"error", problem}});
  }
}

void Dispatcher::end(const std::shared_ptr<Flush>& flush) {
  if (--flush->pending > 0) return;
  if (const auto it = under_way_.find(flush->group_id);
      it != under_way_.end() && --it->second == 0) {
    under_way_.erase(it);
  }
  const auto it = groups_.find(flush->group_id);
  if (it == groups_.end()) return;
  Group& group = *it->second;
  // After a reload the group is another one; it was told nothing of this flush.
  if (group.flushing()) {
    changed();
    for (const uint64_t fingerprint : group.end_flush(flush->ok)) release(fingerprint);
  }
  if (group.empty()) {
    remove_group(flush->group_id);
  } else {
    schedule(group);
  }
}

void Dispatcher::send_test(const std::string& receiver, const NotifyAlert& alert, Timestamp now,
                           Duration timeout,
                           std::function<void(std::string, DeliveryResult)> done) {
  now_ = now;
  const auto it = config_->receivers.find(receiver);
  if (it == config_->receivers.end()) return;
  Notification n;
  n.receiver = receiver;
  n.group_labels = Labels::of({{kAlertName, alert.labels.get(kAlertName)}});
  n.group_key = "{test}:" + alert.labels.to_string();
  n.external_url = options_.external_url;
  n.reason = NotifyReason::First;
  n.alerts.push_back({std::make_shared<const NotifyAlert>(alert), !alert.resolved(now)});
  for (const auto& integration : it->second.integrations) {
    DeliveryJob job;
    job.notifier = integration.notifier;
    job.templates = config_->templates;
    job.integration = integration.name;
    job.notification = n;
    job.deadline = now + timeout;
    deliveries_.start(
        std::move(job),
        [done, name = integration.name](DeliveryResult result) { done(name, std::move(result)); },
        now);
  }
}

}  // namespace vagt::notify

#include "notify/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "notify/store_keys.h"

namespace vagt::notify {

namespace {

// Nobody could renew an alert while this process was down: before it counts as resolved, its source
// gets as long as it had between two words, ten minutes at the most. One that was resolved stays
// so.
void grant_renewal(NotifyAlert& alert, Timestamp now) {
  constexpr Duration kLongest = std::chrono::minutes(10);
  const Duration had = alert.ends_at - alert.updated_at;
  if (had > Duration(0)) alert.ends_at = std::max(alert.ends_at, now + std::min(had, kLongest));
}

}  // namespace

Dispatcher::Dispatcher(Options options, Transport& transport, DeliveryLoop::Post post,
                       NotifyMetrics& metrics, base::Logger log)
    : options_(std::move(options)),
      metrics_(metrics),
      log_(std::move(log)),
      inhibitor_({}),
      silences_(options_.silence_limits, options_.data_retention),
      deliveries_(transport, std::move(post), metrics, options_.max_backoff, options_.seed),
      random_(options_.seed) {}

Status Dispatcher::load(const KvStore& kv, Timestamp now) {
  now_ = now;
  dispatch_from_ = now + options_.start_delay;
  // A record that cannot be read is reported and left out: the rest of the watch must go on.
  const auto each = [&](std::string_view prefix, auto decode, auto take) {
    return kv.scan(prefix, [&](std::string_view key, std::string_view value) {
      auto record = decode(value);
      if (record.ok()) {
        take(std::string(key.substr(prefix.size())), std::move(record).value());
      } else {
        log_.error("cannot read a durable record",
                   {{"key", key}, {"error", record.error().message()}});
      }
      return true;
    });
  };
  VAGT_CHECK_OK(each(kAlertPrefix, decode_alert, [&](const std::string&, NotifyAlert alert) {
    grant_renewal(alert, now);
    Slot slot;
    slot.alert = std::make_shared<const NotifyAlert>(std::move(alert));
    slot.held_by = 1;  // recorded means not done with: apply() puts it into its groups
    ++per_alertname_[std::string(slot.alert->labels.get(kAlertName))];
    alerts_[slot.alert->fingerprint()] = std::move(slot);
  }));
  VAGT_CHECK_OK(each(kSilencePrefix, decode_silence,
                     [&](const std::string&, Silence s) { silences_.restore(std::move(s)); }));
  VAGT_CHECK_OK(each(kLogPrefix, decode_log_entry, [&](const std::string& key, LogEntry entry) {
    log_entries_.put(key, std::move(entry));
  }));
  VAGT_CHECK_OK(each(kSendingPrefix, decode_log_entry, [&](const std::string& key, LogEntry entry) {
    interrupted_[key] = std::move(entry);
  }));
  return each(kGroupPrefix, decode_group_timer,
              [&](const std::string& id, GroupTimer timer) { saved_timers_[id] = timer; });
}

void Dispatcher::apply(std::shared_ptr<const CompiledConfig> config, Timestamp now) {
  now_ = now;
  changed();
  for (const auto& [id, group] : groups_) {
    GroupTimer& timer = saved_timers_[id] = group->timer();
    // What the new configuration adds is told at once; the log keeps the rest from being repeated.
    if (timer.flushed) timer.due = now;
  }
  group_of_.clear();
  groups_.clear();
  due_ = {};
  // Flushes under way keep their own reference to the old configuration.
  config_ = std::move(config);
  std::erase_if(troubles_,
                [&](const auto& entry) { return !config_->receivers.contains(entry.first.first); });
  route_lists_.clear();
  inhibitor_ = Inhibitor(config_->config.inhibit_rules);
  for (auto& [fingerprint, slot] : alerts_) {
    const bool done = slot.alert->resolved(now) && slot.held_by == 0;
    slot.held_by = 0;
    slot.routes = routes_of(slot.alert->labels);
    inhibitor_.update(slot.alert);
    if (!done) route_alert(slot, now);
  }
  for (const auto& [id, timer] : saved_timers_) {
    if (!groups_.contains(id)) batch_.erase(group_key_of(id));
  }
  saved_timers_.clear();
  if (next_gc_ == Timestamp{}) next_gc_ = now + options_.alert_gc_interval;
  metrics_.receivers.set(static_cast<double>(config_->receivers.size()));
  size_t integrations = 0;
  for (const auto& [name, receiver] : config_->receivers)
    integrations += receiver.integrations.size();
  metrics_.integrations.set(static_cast<double>(integrations));
  metrics_.inhibition_rules.set(static_cast<double>(inhibitor_.rules()));
  update_gauges(now);
}

bool Dispatcher::within_limit(const NotifyAlert& alert) const {
  if (options_.per_alertname_limit == 0) return true;
  const auto it = per_alertname_.find(std::string(alert.labels.get(kAlertName)));
  return it == per_alertname_.end() || it->second < options_.per_alertname_limit;
}

void Dispatcher::put(std::vector<NotifyAlert> alerts, Timestamp now) {
  now_ = now;
  changed();
  for (NotifyAlert& alert : alerts) {
    const uint64_t fingerprint = alert.fingerprint();
    const auto known = alerts_.find(fingerprint);
    (alert.resolved(now) ? metrics_.received_resolved : metrics_.received_firing).add();
    if (known == alerts_.end()) {
      if (!within_limit(alert)) {
        metrics_.invalid.add();
        log_.warn(
            "too many alerts of one name, a new one is refused",
            {{"alertname", alert.labels.get(kAlertName)}, {"limit", options_.per_alertname_limit}});
        continue;
      }
      if (alert.resolved(now)) {
        log_.info("a resolve matches no alert that is known",
                  {{"labels", alert.labels.to_string()}});
      }
      ++per_alertname_[std::string(alert.labels.get(kAlertName))];
    }
    Slot& slot = alerts_[fingerprint];
    if (slot.alert != nullptr) alert = merge_alerts(*slot.alert, alert);
    slot.alert = std::make_shared<const NotifyAlert>(std::move(alert));
    batch_.put(alert_key(fingerprint), encode_alert(*slot.alert));
    inhibitor_.update(slot.alert);
    if (config_ == nullptr) continue;
    if (slot.routes == nullptr) slot.routes = routes_of(slot.alert->labels);
    route_alert(slot, now);
  }
}

// A tree has few ways through it: the alerts that take the same one share its list.
RouteList Dispatcher::routes_of(const Labels& labels) {
  std::vector<const Route*> routes = config_->root->match(labels);
  RouteList& list = route_lists_[routes];
  if (list == nullptr) list = std::make_shared<const std::vector<const Route*>>(std::move(routes));
  return list;
}

void Dispatcher::route_alert(Slot& slot, Timestamp now) {
  for (const Route* route : *slot.routes) insert_into(*route, slot.alert, now);
}

void Dispatcher::insert_into(const Route& route, const AlertPtr& alert, Timestamp now) {
  GroupRef ref{&route, route.group_labels(alert->labels)};
  const auto known = group_of_.find(ref);
  const bool created = known == group_of_.end();
  Group& group = created ? make_group(std::move(ref), now) : *known->second;
  const Timestamp before = group.timer().due;
  if (group.insert(alert, now)) ++alerts_[alert->fingerprint()].held_by;
  if (created) save_timer(group);
  if (created || group.timer().due != before) schedule(group);
}

Group& Dispatcher::make_group(GroupRef ref, Timestamp now) {
  auto made = std::make_unique<Group>(*ref.route, ref.labels, now);
  Group& group = *made;
  group_of_.emplace(std::move(ref), made.get());
  groups_[group.id()] = std::move(made);
  const auto saved = saved_timers_.find(group.id());
  if (saved == saved_timers_.end() || saved->second.receiver != group.route().options().receiver) {
    return group;
  }
  GroupTimer timer = saved->second;
  // Clocks carry on over restarts and reloads; a shorter interval counts at once.
  const RouteOptions& options = group.route().options();
  timer.due = std::clamp(timer.due, now,
                         now + (timer.flushed ? options.group_interval : options.group_wait));
  group.restore(timer);
  saved_timers_.erase(saved);
  return group;
}

void Dispatcher::schedule(const Group& group) { due_.emplace(group.timer().due, group.id()); }

void Dispatcher::save_timer(const Group& group) {
  batch_.put(group_key_of(group.id()), encode_group_timer(group.timer()));
}

Result<std::string> Dispatcher::put_silence(Silence silence, Timestamp now) {
  now_ = now;
  // A version 4 UUID.
  const uint64_t high = random_(), low = random_();
  const std::string id =
      fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                  0x4000 | (high & 0x0fff), 0x8000 | (low >> 50), low & 0xffffffffffff);
  VAGT_TRY(auto change, silences_.put(std::move(silence), now, id));
  for (const std::string& changed : change.changed) {
    batch_.put(silence_key(changed), encode_silence(*silences_.find(changed)));
  }
  update_silence_gauges(now);
  return change.id;
}

Status Dispatcher::expire_silence(const std::string& id, Timestamp now) {
  now_ = now;
  VAGT_TRY(auto change, silences_.expire(id, now));
  for (const std::string& changed : change.changed) {
    batch_.put(silence_key(changed), encode_silence(*silences_.find(changed)));
  }
  update_silence_gauges(now);
  return {};
}

void Dispatcher::step(Timestamp now) {
  now_ = now;
  deliveries_.step(now);
  if (config_ == nullptr || now < dispatch_from_) return;
  while (!due_.empty() && due_.top().first <= now) {
    const std::string id = due_.top().second;
    due_.pop();
    const auto it = groups_.find(id);
    if (it == groups_.end() || it->second->timer().due > now) continue;  // an old entry
    // Still flushing: the end of that flush schedules it again.
    if (under_way_.contains(id)) continue;
    flush(*it->second, now);
  }
  if (now >= next_gc_) collect_garbage(now);
  if (now >= next_gauges_) update_gauges(now);
}

void Dispatcher::step_deliveries(Timestamp now) {
  now_ = now;
  deliveries_.step(now);
}

std::optional<Timestamp> Dispatcher::next_due() const {
  std::optional<Timestamp> next = deliveries_.next_due();
  const auto sooner = [&](Timestamp t) {
    if (!next || t < *next) next = t;
  };
  if (config_ == nullptr) return next;
  if (!due_.empty()) sooner(std::max(due_.top().first, dispatch_from_));
  sooner(next_gc_);
  return next;
}

void Dispatcher::shift(Duration by) {
  metrics_.wall_clock_jumps.add();
  deliveries_.shift(by);
  dispatch_from_ += by;
  next_gc_ += by;
  due_ = {};
  for (auto& [id, group] : groups_) {
    GroupTimer timer = group->timer();
    timer.due += by;
    group->restore(timer);
    save_timer(*group);
    schedule(*group);
  }
}

void Dispatcher::remove_group(const std::string& id) {
  changed();
  batch_.erase(group_key_of(id));
  const auto it = groups_.find(id);
  if (it == groups_.end()) return;
  group_of_.erase({&it->second->route(), it->second->labels()});
  groups_.erase(it);
}

void Dispatcher::release(uint64_t fingerprint) {
  const auto it = alerts_.find(fingerprint);
  if (it == alerts_.end() || --it->second.held_by > 0) return;
  // Told everywhere: nothing about it has to survive a restart. It stays in memory for merging.
  batch_.erase(alert_key(fingerprint));
}

void Dispatcher::collect_garbage(Timestamp now) {
  next_gc_ = now + options_.alert_gc_interval;
  changed();
  for (auto it = alerts_.begin(); it != alerts_.end();) {
    const Slot& slot = it->second;
    if (!slot.alert->resolved(now) || slot.held_by > 0) {
      ++it;
      continue;
    }
    const auto count = per_alertname_.find(std::string(slot.alert->labels.get(kAlertName)));
    if (count != per_alertname_.end() && --count->second == 0) per_alertname_.erase(count);
    batch_.erase(alert_key(it->first));
    it = alerts_.erase(it);
  }
  inhibitor_.collect_garbage(now);
  for (const std::string& id : silences_.collect_garbage(now)) batch_.erase(silence_key(id));
  for (const std::string& key : log_entries_.collect_garbage(now)) batch_.erase(log_key_of(key));
  for (const auto& [key, entry] : interrupted_)
    batch_.erase(sending_key(key));  // nobody asked since
  interrupted_.clear();
  update_gauges(now);
}

}  // namespace vagt::notify

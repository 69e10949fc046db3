#include "rules/alert_tracker.h"

#include <fmt/core.h>

#include <algorithm>

namespace vagt::rules {

using Change = TrackedAlert::Change;

Status AlertTracker::update(std::vector<AlertCandidate> candidates, Timestamp now) {
  // Duplicates are looked for before anything changes.
  std::unordered_map<Labels, size_t, LabelsHash> seen;
  seen.reserve(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!seen.emplace(candidates[i].labels, i).second) {
      return Status::invalid(
          "vector contains metrics with the same labelset after applying alert labels");
    }
  }
  ++round_;
  for (AlertCandidate& candidate : candidates) {
    TrackedAlert& alert = alerts_[candidate.labels];
    if (alert.round == 0) order_.clear();
    if (alert.round == 0 || alert.state == AlertState::Inactive) {
      alert = {};
      alert.labels = candidate.labels;
      alert.active_at = now;
    }
    alert.round = round_;
    alert.value = candidate.value;
    alert.annotations = std::move(candidate.annotations);
  }
  size_t active = 0;
  for (auto it = alerts_.begin(); it != alerts_.end();) {
    const bool keep = advance(it->second, now);
    if (keep && it->second.state != AlertState::Inactive) ++active;
    if (!keep) {
      dropped_.push_back(it->first);
      order_.clear();
    }
    it = keep ? std::next(it) : alerts_.erase(it);
  }
  if (options_.limit > 0 && active > options_.limit) {
    for (const auto& entry : alerts_) dropped_.push_back(entry.first);
    alerts_.clear();
    order_.clear();
    return {Code::LimitExceeded,
            fmt::format("exceeded limit of {} with {} alerts", options_.limit, active)};
  }
  return {};
}

// False: the alert is over and forgotten.
bool AlertTracker::advance(TrackedAlert& a, Timestamp now) {
  if (a.round != round_) {
    if (a.state != AlertState::Inactive && now < hold_missing_until_) return true;
    if (a.state == AlertState::Pending) return false;
    if (a.resolved_at && now - *a.resolved_at > kResolvedRetention) return false;
    if (a.state == AlertState::Inactive) return true;
    if (options_.keep_firing_for.count() > 0) {
      if (!a.keep_firing_since) a.keep_firing_since = now, a.change = Change::State;
      if (now - *a.keep_firing_since < options_.keep_firing_for) return true;
    }
    a.state = AlertState::Inactive;
    a.resolved_at = now;
    a.change = Change::State;
    return true;
  }
  if (a.keep_firing_since) a.keep_firing_since.reset(), a.change = Change::State;
  if (a.state == AlertState::Pending && now - a.active_at >= options_.hold_for) {
    a.state = AlertState::Firing;
    a.fired_at = now;
    a.change = Change::State;
  }
  return true;
}

bool AlertTracker::needs_sending(const TrackedAlert& a, Timestamp now, Duration resend_delay) {
  if (a.state == AlertState::Pending) return false;
  if (!a.last_sent_at) return true;
  if (a.resolved_at && *a.resolved_at > *a.last_sent_at) return true;
  return *a.last_sent_at + resend_delay < now;
}

std::vector<Alert> AlertTracker::take_due(Timestamp now, Duration resend_delay, Duration interval) {
  std::vector<TrackedAlert*> chosen;
  for (TrackedAlert* alert : in_label_order()) {
    if (needs_sending(*alert, now, resend_delay)) chosen.push_back(alert);
  }
  std::vector<Alert> due;
  due.reserve(chosen.size());
  for (TrackedAlert* alert : chosen) {
    TrackedAlert& a = *alert;
    a.last_sent_at = now;
    a.valid_until = now + 4 * std::max(resend_delay, interval);
    a.change = std::max(a.change, Change::Sent);
    Alert& out = due.emplace_back();
    out.labels = a.labels;
    if (a.annotations) out.annotations = *a.annotations;
    out.state = a.state;
    out.value = a.value;
    out.active_at = a.active_at;
    out.fired_at = a.fired_at;
    out.resolved_at = a.resolved_at;
    out.keep_firing_since = a.keep_firing_since;
    out.valid_until = a.valid_until;
  }
  return due;
}

// Sorting 50,000 label sets costs as much as all the rest: the order is kept until an alert comes
// or goes, and each set is laid out flat before it is compared sixteen times.
const std::vector<TrackedAlert*>& AlertTracker::in_label_order() {
  if (order_.size() == alerts_.size()) return order_;
  struct Key {
    std::string_view flat;
    TrackedAlert* alert;
  };
  std::vector<Key> keys;
  keys.reserve(alerts_.size());
  size_t bytes = 0;
  for (const auto& entry : alerts_) {
    for (const Label& label : entry.first.items())
      bytes += label.name.size() + label.value.size() + 2;
  }
  std::string text;  // all keys; it must not grow once views point into it
  text.reserve(bytes);
  for (auto& entry : alerts_) {
    const size_t begin = text.size();
    for (const Label& label : entry.first.items()) {
      text.append(label.name).push_back('\0');
      text.append(label.value).push_back('\0');
    }
    keys.push_back({std::string_view(text).substr(begin), &entry.second});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return a.flat < b.flat; });
  order_.clear();
  order_.reserve(keys.size());
  for (const Key& key : keys) order_.push_back(key.alert);
  return order_;
}

size_t AlertTracker::active() const {
  return static_cast<size_t>(std::count_if(alerts_.begin(), alerts_.end(), [](const auto& entry) {
    return entry.second.state != AlertState::Inactive;
  }));
}

AlertState AlertTracker::state() const {
  AlertState highest = AlertState::Inactive;
  for (const auto& entry : alerts_) highest = std::max(highest, entry.second.state);
  return highest;
}

void AlertTracker::restore(TrackedAlert alert) {
  if (alert.round == 0) alert.round = 1;  // it is known, not new
  if (round_ == 0) round_ = 1;
  order_.clear();
  const Labels labels = alert.labels;
  alerts_.insert_or_assign(labels, std::move(alert));
}

}  // namespace vagt::rules

#include "notify/group.h"

#include <algorithm>

#include "notify/notification.h"
#include "notify/record.h"

namespace vagt::notify {

std::string encode_group_timer(const GroupTimer& timer) {
  RecordWriter w;
  w.time(timer.due).number(timer.flushed ? 1 : 0).text(timer.receiver);
  return w.take();
}

Result<GroupTimer> decode_group_timer(std::string_view text) {
  RecordReader r(text);
  GroupTimer timer;
  timer.due = r.time();
  timer.flushed = r.number() != 0;
  timer.receiver = r.text();
  VAGT_CHECK_OK(r.status());
  return timer;
}

Group::Group(const Route& route, Labels labels, Timestamp created)
    : route_(&route), labels_(std::move(labels)) {
  const std::string text = label_set_text(labels_);
  id_ = route.id() + ":" + text;
  key_ = route.key() + ":" + text;
  timer_.due = created + route.options().group_wait;
  timer_.receiver = route.options().receiver;
}

bool Group::insert(const AlertPtr& alert, Timestamp now) {
  const bool fresh = alerts_.insert_or_assign(alert->fingerprint(), alert).second;
  if (!timer_.flushed && alert->starts_at + route_->options().group_wait < now) timer_.due = now;
  return fresh;
}

std::vector<AlertPtr> Group::begin_flush(Timestamp now) {
  flushing_ = true;
  timer_.flushed = true;
  timer_.due = now + route_->options().group_interval;
  std::vector<AlertPtr> out;
  out.reserve(alerts_.size());
  flushed_resolved_.clear();
  for (const auto& [fingerprint, alert] : alerts_) {
    out.push_back(alert);
    if (alert->resolved(now)) flushed_resolved_.push_back(alert);
  }
  sort_for_payload(out);
  return out;
}

std::vector<uint64_t> Group::end_flush(bool ok) {
  flushing_ = false;
  std::vector<uint64_t> gone;
  if (ok) {
    for (const AlertPtr& alert : flushed_resolved_) {
      const auto it = alerts_.find(alert->fingerprint());
      if (it == alerts_.end() || it->second != alert) continue;
      gone.push_back(it->first);
      alerts_.erase(it);
    }
  }
  flushed_resolved_.clear();
  return gone;
}

Duration Group::flush_timeout() const {
  return std::max<Duration>(route_->options().group_interval, std::chrono::seconds(10));
}

}  // namespace vagt::notify

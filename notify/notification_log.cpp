#include "notify/notification_log.h"

#include <algorithm>

#include "notify/record.h"

namespace vagt::notify {
namespace {

bool is_subset(const std::vector<uint64_t>& part, const std::vector<uint64_t>& whole) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

}  // namespace

std::string log_key(const std::string& group_key, const std::string& receiver,
                    const std::string& integration, size_t position) {
  return group_key + ":" + receiver + "/" + integration + "/" + std::to_string(position);
}

std::string_view reason_text(NotifyReason reason) {
  switch (reason) {
    case NotifyReason::None:
      return "none";
    case NotifyReason::First:
      return "first notification";
    case NotifyReason::NewAlerts:
      return "new alerts added";
    case NotifyReason::SomeResolved:
      return "some alerts resolved";
    case NotifyReason::AllResolved:
      return "all alerts resolved";
    case NotifyReason::Repeat:
      return "repeat interval elapsed";
  }
  return "unknown";
}

NotifyReason needs_notification(const LogEntry* last, const std::vector<uint64_t>& firing,
                                const std::vector<uint64_t>& resolved, bool send_resolved,
                                Duration repeat_interval, Timestamp now) {
  if (last == nullptr) return firing.empty() ? NotifyReason::None : NotifyReason::First;
  if (!is_subset(firing, last->firing)) return NotifyReason::NewAlerts;
  if (firing.empty()) return last->firing.empty() ? NotifyReason::None : NotifyReason::AllResolved;
  if (send_resolved && !is_subset(resolved, last->resolved)) return NotifyReason::SomeResolved;
  return last->sent_at < now - repeat_interval ? NotifyReason::Repeat : NotifyReason::None;
}

const LogEntry* NotificationLog::find(const std::string& key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

std::vector<std::string> NotificationLog::collect_garbage(Timestamp now) {
  std::vector<std::string> removed;
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (it->second.expires_at > now) {
      ++it;
      continue;
    }
    removed.push_back(it->first);
    it = entries_.erase(it);
  }
  return removed;
}

std::string encode_log_entry(const LogEntry& entry) {
  RecordWriter w;
  for (const auto* list : {&entry.firing, &entry.resolved}) {
    w.number(list->size());
    for (const uint64_t fingerprint : *list) w.number(fingerprint);
  }
  w.time(entry.sent_at).time(entry.expires_at).map(entry.receiver_data);
  return w.take();
}

Result<LogEntry> decode_log_entry(std::string_view text) {
  RecordReader r(text);
  LogEntry entry;
  for (auto* list : {&entry.firing, &entry.resolved}) {
    for (size_t n = r.count(); n > 0; --n) list->push_back(r.number());
  }
  entry.sent_at = r.time();
  entry.expires_at = r.time();
  entry.receiver_data = r.map();
  VAGT_CHECK_OK(r.status());
  return entry;
}

}  // namespace vagt::notify

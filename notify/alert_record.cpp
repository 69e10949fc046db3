#include "notify/alert_record.h"

#include <fmt/format.h>

#include "notify/record.h"

namespace vagt::notify {

std::string fingerprint_text(uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

NotifyAlert complete_alert(PostedAlert posted, Timestamp now, Duration resolve_timeout) {
  NotifyAlert alert;
  alert.labels = std::move(posted.labels);
  alert.known_fingerprint = alert.labels.fingerprint();
  alert.annotations = std::move(posted.annotations);
  alert.generator_url = std::move(posted.generator_url);
  alert.updated_at = now;
  alert.timeout = !posted.ends_at.has_value();
  alert.ends_at = posted.ends_at.value_or(now + resolve_timeout);
  alert.starts_at = posted.starts_at.value_or(posted.ends_at.value_or(now));
  return alert;
}

Status check_alert(const NotifyAlert& alert) {
  if (alert.labels.empty()) return Status::invalid("at least one label pair required");
  if (alert.ends_at < alert.starts_at) {
    return Status::invalid("start time must be before end time");
  }
  return {};
}

NotifyAlert merge_alerts(const NotifyAlert& older, const NotifyAlert& newer) {
  const auto inside = [&](Timestamp t) { return t > older.starts_at && t < older.ends_at; };
  if (!inside(newer.ends_at) && !inside(newer.starts_at)) return newer;
  const Timestamp now = newer.updated_at;
  NotifyAlert merged = newer;
  merged.starts_at = std::min(older.starts_at, newer.starts_at);
  if (newer.resolved(now)) {
    if (older.resolved(now)) merged.ends_at = std::max(older.ends_at, newer.ends_at);
  } else if (older.ends_at > newer.ends_at && !older.timeout) {
    merged.ends_at = older.ends_at;
    merged.timeout = false;
  }
  return merged;
}

std::string encode_alert(const NotifyAlert& alert) {
  RecordWriter w;
  w.labels(alert.labels).map(alert.annotations);
  w.time(alert.starts_at).time(alert.ends_at).time(alert.updated_at);
  w.number(alert.timeout ? 1 : 0).text(alert.generator_url);
  return w.take();
}

Result<NotifyAlert> decode_alert(std::string_view text) {
  RecordReader r(text);
  NotifyAlert alert;
  alert.labels = Labels::from_map(r.map());
  alert.known_fingerprint = alert.labels.fingerprint();
  alert.annotations = r.map();
  alert.starts_at = r.time();
  alert.ends_at = r.time();
  alert.updated_at = r.time();
  alert.timeout = r.number() != 0;
  alert.generator_url = r.text();
  VAGT_CHECK_OK(r.status());
  return alert;
}

}  // namespace vagt::notify

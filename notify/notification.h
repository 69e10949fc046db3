// One message to one integration, before it has a shape: what templates and payloads are made from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/labels.h"
#include "notify/alert_record.h"
#include "notify/notification_log.h"

namespace vagt::notify {

struct NotificationAlert {
  AlertPtr alert;
  bool firing = true;
};

struct Notification {
  std::string receiver;  // the plain name; payloads print it with regex characters escaped
  std::string group_key;
  Labels group_labels;
  std::map<std::string, std::string> route_labels;  // rendered
  std::vector<NotificationAlert> alerts;            // in payload order
  std::string external_url;                         // without a trailing slash
  NotifyReason reason = NotifyReason::None;
  Timestamp now{};    // of this attempt
  Timestamp begun{};  // of the first attempt: what providers know a message by stays the same
  std::map<std::string, std::string> receiver_data;  // of the last delivery, see LogEntry
  size_t truncated_alerts = 0;                       // left out by max_alerts
  // It was being sent when the process ended: whoever reads it may have read it before.
  bool perhaps_repeated = false;
  // Not empty: send plain text only, beginning with this note; the first form was refused.
  std::string plain_note;

  std::string reason_text() const;
  bool any_firing() const;
  std::string_view status() const { return any_firing() ? "firing" : "resolved"; }
};

// Labels or annotations that all alerts share.
std::map<std::string, std::string> common_labels(const Notification& n);
std::map<std::string, std::string> common_annotations(const Notification& n);
// Alertmanager's order: by job, then instance, then label sets.
void sort_for_payload(std::vector<AlertPtr>& alerts);
// Alertmanager's order of label sets: fewer labels first, else the first difference over all names.
bool label_set_before(const Labels& a, const Labels& b);
// SHA-256 of the group key in hexadecimal: deduplication keys of providers.
std::string hashed_key(const std::string& group_key);
// Go's regexp.QuoteMeta.
std::string quote_regex(std::string_view text);
// At most `limit` runes (or bytes), the last one `…` where something was cut.
std::string truncate_runes(std::string_view text, size_t limit);
std::string truncate_bytes(std::string_view text, size_t limit);
size_t count_runes(std::string_view text);
// A plain account of the notification without any template.
std::string plain_summary(const Notification& n);

}  // namespace vagt::notify

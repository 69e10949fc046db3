// What each integration was told last about each group: the reason not to page twice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "base/time.h"

namespace vagt::notify {

struct LogEntry {
  std::vector<uint64_t> firing, resolved;  // fingerprints, sorted
  Timestamp sent_at{}, expires_at{};
  std::map<std::string, std::string> receiver_data;  // a provider's message id, for edits in place
};

// group key, receiver, integration and its position in the receiver: one key of the log.
std::string log_key(const std::string& group_key, const std::string& receiver,
                    const std::string& integration, size_t position);

// Why a notification goes out, in Alertmanager's words; None: it does not.
enum class NotifyReason : uint8_t {
  None,
  First,
  NewAlerts,
  SomeResolved,
  AllResolved,
  Repeat,
};
std::string_view reason_text(NotifyReason reason);

// Pure: whether to notify, given the last entry (null: none) and the sorted fingerprints of now.
NotifyReason needs_notification(const LogEntry* last, const std::vector<uint64_t>& firing,
                                const std::vector<uint64_t>& resolved, bool send_resolved,
                                Duration repeat_interval, Timestamp now);

class NotificationLog {
 public:
  const LogEntry* find(const std::string& key) const;
  void put(const std::string& key, LogEntry entry) { entries_[key] = std::move(entry); }
  std::vector<std::string> collect_garbage(Timestamp now);  // the keys removed
  size_t size() const { return entries_.size(); }

 private:
  std::unordered_map<std::string, LogEntry> entries_;
};

std::string encode_log_entry(const LogEntry& entry);
Result<LogEntry> decode_log_entry(std::string_view text);

}  // namespace vagt::notify

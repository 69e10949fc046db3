// An alert as notify keeps it: what was posted, merged with what was known, and until when it
// holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/alert.h"
#include "base/labels.h"
#include "base/time.h"

namespace vagt::notify {

// The instant that Alertmanager's payloads call "no time": 0001-01-01T00:00:00Z.
inline constexpr Timestamp kNoTime{Duration(-62135596800000)};

// What a client posts. Times that it left out are filled in by the manager.
struct PostedAlert {
  Labels labels;
  Annotations annotations;
  std::optional<Timestamp> starts_at, ends_at;
  std::string generator_url;
};

struct NotifyAlert {
  Labels labels;
  Annotations annotations;
  Timestamp starts_at{}, ends_at{}, updated_at{};
  bool timeout = false;  // ends_at is a guess from resolve_timeout, not the client's word
  std::string generator_url;

  bool resolved(Timestamp now) const { return ends_at <= now; }
  uint64_t known_fingerprint = 0;  // 0: not computed yet
  uint64_t fingerprint() const {
    return known_fingerprint != 0 ? known_fingerprint : labels.fingerprint();
  }
};
using AlertPtr = std::shared_ptr<const NotifyAlert>;  // never changed once shared

// 16 hexadecimal digits.
std::string fingerprint_text(uint64_t fingerprint);

// Turns a post into an alert: SEMANTICS of absent times. `resolve_timeout` fills a missing end.
NotifyAlert complete_alert(PostedAlert posted, Timestamp now, Duration resolve_timeout);
// Why the alert cannot be taken; Ok when it can. Texts as Alertmanager words them.
Status check_alert(const NotifyAlert& alert);

// What is known after `newer` is posted over `older` (same labels).
NotifyAlert merge_alerts(const NotifyAlert& older, const NotifyAlert& newer);

// Durable form. Decoding refuses what encode_alert did not write.
std::string encode_alert(const NotifyAlert& alert);
Result<NotifyAlert> decode_alert(std::string_view text);

}  // namespace vagt::notify

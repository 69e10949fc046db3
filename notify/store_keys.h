// Where notify's records lie in the key-value store; docs/formats/notify.md.
#pragma once

#include <string>
#include <string_view>

#include "notify/alert_record.h"

namespace vagt::notify {

inline constexpr std::string_view kAlertPrefix = "notify/alert/";
inline constexpr std::string_view kSilencePrefix = "notify/silence/";
inline constexpr std::string_view kLogPrefix = "notify/log/";
inline constexpr std::string_view kGroupPrefix = "notify/group/";
inline constexpr std::string_view kSendingPrefix = "notify/sending/";

inline std::string alert_key(uint64_t fingerprint) {
  return std::string(kAlertPrefix) + fingerprint_text(fingerprint);
}
inline std::string silence_key(const std::string& id) { return std::string(kSilencePrefix) + id; }
inline std::string log_key_of(const std::string& key) { return std::string(kLogPrefix) + key; }
inline std::string group_key_of(const std::string& id) { return std::string(kGroupPrefix) + id; }
inline std::string sending_key(const std::string& key) { return std::string(kSendingPrefix) + key; }

}  // namespace vagt::notify

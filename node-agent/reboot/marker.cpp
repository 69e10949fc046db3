#include "node-agent/reboot/marker.h"

#include <fmt/core.h>

#include <boost/json.hpp>
#include <charconv>
#include <ctime>

#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

namespace json = boost::json;

Result<json::object> parse_object(std::string_view input) {
  json::error_code error;
  json::value value = json::parse(input, error);
  if (error) return Status::invalid("not JSON: " + error.message());
  if (!value.is_object()) return Status::invalid("not a JSON object");
  return std::move(value.get_object());
}

std::string text(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string().c_str())
                                                : std::string();
}

bool flag(const json::object& from, std::string_view key) {
  const json::value* value = from.if_contains(key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

std::optional<Timestamp> parse_utc(const std::string& text) {
  tm time{};
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return from_millis(static_cast<int64_t>(timegm(&time)) * 1000);
}

std::string print_utc(Timestamp at) {
  const time_t seconds = to_millis(at) / 1000;
  tm time{};
  gmtime_r(&seconds, &time);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &time);
  return buffer;
}

}  // namespace

std::string marker_path(const std::string& state_dir) {
  return Sources::join(state_dir, "reboot-expected");
}

Result<RebootMarker> parse_marker(std::string_view input) {
  VAGT_TRY(const json::object root, parse_object(input));
  const auto expires = parse_utc(text(root, "expires_at"));
  if (!expires) return Status::invalid("expires_at is no time like 2026-11-19T02:00:00Z");
  return RebootMarker{*expires, text(root, "reason"), text(root, "by"), text(root, "boot_id")};
}

std::string print_marker(const RebootMarker& marker) {
  return json::serialize(json::object{{"expires_at", print_utc(marker.expires_at)},
                                      {"reason", marker.reason},
                                      {"by", marker.by},
                                      {"boot_id", marker.boot_id}}) +
         '\n';
}

Result<BootState> parse_boot_state(std::string_view input) {
  VAGT_TRY(const json::object root, parse_object(input));
  BootState state;
  state.boot_id = text(root, "boot_id");
  state.last_alive = parse_utc(text(root, "last_alive")).value_or(Timestamp{});
  state.clean_shutdown = flag(root, "clean_shutdown");
  state.decided = flag(root, "decided");
  state.planned = flag(root, "planned");
  state.last_boot_clean = flag(root, "last_boot_clean");
  state.last_boot_known = flag(root, "last_boot_known");
  state.reason = text(root, "reason");
  state.by = text(root, "by");
  return state;
}

std::string print_boot_state(const BootState& state) {
  return json::serialize(json::object{{"boot_id", state.boot_id},
                                      {"last_alive", print_utc(state.last_alive)},
                                      {"clean_shutdown", state.clean_shutdown},
                                      {"decided", state.decided},
                                      {"planned", state.planned},
                                      {"last_boot_clean", state.last_boot_clean},
                                      {"last_boot_known", state.last_boot_known},
                                      {"reason", state.reason},
                                      {"by", state.by}}) +
         '\n';
}

BootState begin_boot(const std::string& boot_id, const std::optional<BootState>& before,
                     const std::optional<RebootMarker>& marker, Timestamp now) {
  if (before && before->decided && before->boot_id == boot_id) {
    BootState same = *before;
    same.last_alive = now;
    same.clean_shutdown = false;
    return same;
  }
  BootState state;
  state.boot_id = boot_id;
  state.last_alive = now;
  state.decided = true;
  state.last_boot_known = before && before->boot_id != boot_id;
  state.last_boot_clean = state.last_boot_known && before->clean_shutdown;
  // Valid when the old boot ended, not now: ten minutes of self-tests must not outlast it.
  if (marker && marker->boot_id != boot_id &&
      marker->expires_at >= (state.last_boot_known ? before->last_alive : now)) {
    state.planned = true;
    state.reason = marker->reason;
    state.by = marker->by;
  }
  return state;
}

}  // namespace vagt::agent

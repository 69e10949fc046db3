// Durations, instants and the clock. No bare integer stands for time anywhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/status.h"

namespace vagt {

using Duration = std::chrono::milliseconds;
using Timestamp = std::chrono::sys_time<Duration>;

constexpr int64_t to_millis(Timestamp t) { return t.time_since_epoch().count(); }
constexpr Timestamp from_millis(int64_t ms) { return Timestamp(Duration(ms)); }
// Seconds since 1970 with a fraction, as the APIs and time() spell instants.
constexpr double to_seconds(Timestamp t) { return static_cast<double>(to_millis(t)) / 1000.0; }
constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) / 1000.0; }

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;  // what samples and alerts carry
  virtual std::chrono::steady_clock::time_point steady_now()
      const = 0;  // latency and due times only
  virtual bool sleep_until(Timestamp until, std::stop_token stop) = 0;  // false: asked to stop
};

// The machine's clock. Only engine, cli and node-agent construct one.
class SystemClock final : public Clock {
 public:
  Timestamp now() const override;
  std::chrono::steady_clock::time_point steady_now() const override;
  bool sleep_until(Timestamp until, std::stop_token stop) override;
};

// Prometheus durations: "1h30m", "0", "15s", units y w d h m s ms, largest first. No sign, no
// fraction.
Result<Duration> parse_duration(std::string_view text);
// The shortest such spelling, as Prometheus prints it: 90000 ms is "1m30s", 0 is "0s".
std::string format_duration(Duration d);
// Go's time.Duration spelling, as Alertmanager and templates print it: "1h0m0s", "1.5s", "0s".
std::string format_go_duration(std::chrono::nanoseconds d);

// RFC 3339 with milliseconds where there are any: "2026-03-01T12:00:00.5Z". `zone` is always UTC.
std::string format_rfc3339(Timestamp t);
// RFC 3339 with optional fraction and zone offset; digits beyond milliseconds are cut.
Result<Timestamp> parse_rfc3339(std::string_view text);

}  // namespace vagt

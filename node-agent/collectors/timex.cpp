// The kernel's clock discipline, adjtimex(2).
#include <sys/timex.h>

#include <cerrno>
#include <cstring>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

constexpr double kScaledPpm = 65536;  // frequencies are parts per million, shifted by 16 bits

struct Reading {
  int result = 0;  // adjtimex's return value: the clock state
  timex t{};
};

Result<Reading> read_fixture(const std::string& path) {
  VAGT_TRY(const auto pairs, read_pairs(path));
  const auto number = [&pairs = pairs](const std::string& key) {
    const auto found = pairs.find(key);
    return found == pairs.end() ? 0L : static_cast<long>(to_number(found->second).value_or(0));
  };
  Reading reading;
  reading.result = static_cast<int>(number("return"));
  timex& t = reading.t;
  t.status = static_cast<int>(number("status"));
  t.offset = number("offset"), t.freq = number("freq"), t.maxerror = number("maxerror");
  t.esterror = number("esterror"), t.constant = number("constant"), t.tick = number("tick");
  t.tai = static_cast<int>(number("tai"));
  t.ppsfreq = number("ppsfreq"), t.jitter = number("jitter"), t.stabil = number("stabil");
  t.shift = static_cast<int>(number("shift"));
  t.jitcnt = number("jitcnt"), t.calcnt = number("calcnt"), t.errcnt = number("errcnt");
  t.stbcnt = number("stbcnt");
  return reading;
}

class TimexCollector final : public Collector {
 public:
  explicit TimexCollector(const Sources& sources) : fixture_(sources.fixtures.adjtimex) {}
  std::string_view name() const override { return "timex"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    Reading reading;
    if (fixture_.empty()) {
      reading.result = adjtimex(&reading.t);
      if (reading.result < 0) return Status::io(std::string("adjtimex: ") + std::strerror(errno));
    } else {
      VAGT_TRY(reading, read_fixture(fixture_));
    }
    add_clock(sink, reading);
    add_pps(sink, reading.t);
    return {};
  }

 private:
  static double divisor(const timex& t) { return (t.status & STA_NANO) != 0 ? 1e9 : 1e6; }
  static double real(long value) { return static_cast<double>(value); }

  static void add_clock(MetricSink& sink, const Reading& reading) {
    const timex& t = reading.t;
    sink.gauge("node_timex_sync_status",
               "Is clock synchronized to a reliable server (1 = yes, 0 = no).")
        .add(reading.result == TIME_ERROR ? 0 : 1);
    sink.gauge("node_timex_offset_seconds",
               "Time offset in between local system and reference clock.")
        .add(real(t.offset) / divisor(t));
    sink.gauge("node_timex_frequency_adjustment_ratio", "Local clock frequency adjustment.")
        .add(1 + real(t.freq) / kScaledPpm / 1e6);
    sink.gauge("node_timex_maxerror_seconds", "Maximum error in seconds.")
        .add(real(t.maxerror) / 1e6);
    sink.gauge("node_timex_estimated_error_seconds", "Estimated error in seconds.")
        .add(real(t.esterror) / 1e6);
    sink.gauge("node_timex_status", "Value of the status array bits.").add(t.status);
    sink.gauge("node_timex_loop_time_constant", "Phase-locked loop time constant.")
        .add(real(t.constant));
    sink.gauge("node_timex_tick_seconds", "Seconds between clock ticks.").add(real(t.tick) / 1e6);
    sink.gauge("node_timex_tai_offset_seconds", "International Atomic Time (TAI) offset.")
        .add(t.tai);
  }

  static void add_pps(MetricSink& sink, const timex& t) {
    sink.gauge("node_timex_pps_frequency_hertz", "Pulse per second frequency.")
        .add(real(t.ppsfreq) / kScaledPpm);
    sink.gauge("node_timex_pps_jitter_seconds", "Pulse per second jitter.")
        .add(real(t.jitter) / divisor(t));
    sink.gauge("node_timex_pps_shift_seconds", "Pulse per second interval duration.").add(t.shift);
    sink.gauge("node_timex_pps_stability_hertz",
               "Pulse per second stability, average of recent frequency changes.")
        .add(real(t.stabil) / kScaledPpm);
    sink.counter("node_timex_pps_jitter_total",
                 "Pulse per second count of jitter limit exceeded events.")
        .add(real(t.jitcnt));
    sink.counter("node_timex_pps_calibration_total",
                 "Pulse per second count of calibration intervals.")
        .add(real(t.calcnt));
    sink.counter("node_timex_pps_error_total", "Pulse per second count of calibration errors.")
        .add(real(t.errcnt));
    sink.counter("node_timex_pps_stability_exceeded_total",
                 "Pulse per second count of stability limit exceeded events.")
        .add(real(t.stbcnt));
  }

  const std::string fixture_;
};

}  // namespace

CollectorPtr make_timex(const Sources& sources, const Filters&) {
  return std::make_unique<TimexCollector>(sources);
}

}  // namespace vagt::agent

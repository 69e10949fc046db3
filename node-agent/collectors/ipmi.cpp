// The BMC: sensors, fans, power supplies, event log. One question at a time, in the background, and
// ever less often while it does not answer.
#include <algorithm>

#include "node-agent/bmc/page.h"
#include "node-agent/collectors/collectors.h"
#include "node-agent/command.h"
#include "node-agent/state_file.h"

namespace vagt::agent {
namespace {

using std::chrono::seconds;

constexpr seconds kSensorDeadline{50}, kSelDeadline{120}, kShortDeadline{10};
constexpr Duration kInfoEvery = std::chrono::hours(1);
constexpr unsigned kMaxBackOff = 15;  // rounds of a minute

class IpmiCollector final : public Collector {
 public:
  IpmiCollector(const Sources& sources, const Filters& filters)
      : fixture_(sources.fixtures.ipmi),
        arguments_(filters.ipmi_arguments),
        device_(sources.root("dev/ipmi0")),
        state_path_(sources.once ? "" : Sources::join(sources.state_dir, "ipmi.state")),
        state_(sources.state),
        log_(sources.log.with_component("state")),
        clock_(*sources.clock) {
    settings_.expected = filters.psus_expected;
    settings_.required = filters.psus_required;
    settings_.count_seen = fixture_.empty();
    std::string text;
    if (!state_path_.empty() && read_file(state_path_, text).ok()) memory_.load(text);
    if (fixture_.empty()) add_critical_types(memory_);
  }
  std::string_view name() const override { return "ipmi"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    if (!fixture_.empty()) return collect_recorded(sink);
    if (arguments_.empty() && !exists(device_)) return Status::not_found("no BMC at " + device_);
    if (skip_ > 0) {
      --skip_;
      write_up(sink);
      return Status(Code::Unavailable, "the BMC is left alone for a while: " + last_error_);
    }
    const auto began = clock_.steady_now();
    const Status status = collect_live(sink, stop);
    sink.gauge("ipmi_scrape_duration_seconds", "How long the last round with the BMC took.")
        .add(std::chrono::duration<double>(clock_.steady_now() - began).count());
    write_up(sink);
    if (cpu_seconds_ > 0)
      sink.counter("vagt_external_command_seconds_total", "CPU time of the programs we run.")
          .add({{"command", "ipmitool"}}, cpu_seconds_);
    back_off_ = status.ok() ? 0 : std::min(kMaxBackOff, std::max(1u, back_off_ * 2));
    skip_ = back_off_ > 1 ? back_off_ : 0;
    if (!status.ok()) last_error_ = status.message();
    return status;
  }

 private:
  Status collect_recorded(MetricSink& sink) {
    const auto file = [this](std::string_view name) {
      std::string text;
      read_file(Sources::join(fixture_, name), text).ignore("a recorded BMC may lack an answer");
      return text;
    };
    auto sensors = parse_ipmi_sensors(file("ipmi-sensors.csv"));
    if (sensors.empty()) sensors = parse_sdr_elist(file("ipmitool-sdr-elist-full.txt"));
    if (sensors.empty()) return Status::not_found(fixture_ + " has no sensors");
    write_sensors(sink, sensors, memory_, settings_);
    write_chassis(sink, file("ipmitool-chassis-status.txt"));
    write_dcmi(sink, file("ipmitool-dcmi-power-reading.txt"));
    write_sel_info(sink, file("ipmitool-sel-info.txt"));
    memory_.take(parse_sel(file("ipmitool-sel-elist.txt")));
    write_sel(sink, memory_);
    return {};
  }

  Status collect_live(MetricSink& sink, const std::stop_token& stop) {
    const auto sensors = read_sensors(stop);
    if (!sensors) {
      // The others are not asked then: they would only make it wait again.
      for (const char* part : {"bmc", "chassis", "sel"}) note_up(part, false);
      for (auto& part : up_) part.second = false;
      info_read_ = Timestamp{};
      return sensors.error();
    }
    write_sensors(sink, *sensors, memory_, settings_);
    // Each of the others may be missing on a BMC that is well.
    if (const auto text = ask("chassis", {"chassis", "status"}, kShortDeadline, stop))
      write_chassis(sink, *text);
    if (const auto text = ask("dcmi", {"dcmi", "power", "reading"}, kShortDeadline, stop))
      write_dcmi(sink, *text);
    read_sel(sink, stop);
    if (clock_.now() - info_read_ >= kInfoEvery)
      if (const auto text = ask("bmc", {"mc", "info"}, kShortDeadline, stop)) {
        info_ = *text;
        info_read_ = clock_.now();
      }
    write_bmc_info(sink, info_);
    write_sel(sink, memory_);
    if (!state_path_.empty()) state_->note(save_state(state_path_, memory_.save()), log_);
    return {};
  }

  // FreeIPMI says the state of discrete sensors; over the network only ipmitool has our arguments.
  Result<std::vector<IpmiSensor>> read_sensors(const std::stop_token& stop) {
    if (arguments_.empty()) {
      const auto output =
          run_command({"ipmi-sensors", "--comma-separated-output", "--no-header-output",
                       "--output-sensor-state", "--quiet-cache", "--sdr-cache-recreate"},
                      kSensorDeadline, stop);
      if (output && output->exit_code == 0) {
        cpu_seconds_ += output->cpu_seconds;
        auto sensors = parse_ipmi_sensors(output->out);
        if (!sensors.empty()) return note_up("ipmi", true), std::move(sensors);
      }
    }
    const auto text = ask("ipmi", {"sdr", "elist", "full"}, kSensorDeadline, stop);
    if (!text) return text.error();
    auto sensors = parse_sdr_elist(*text);
    if (const auto compact = ask("ipmi", {"sdr", "elist", "compact"}, kSensorDeadline, stop)) {
      auto more = parse_sdr_elist(*compact);
      sensors.insert(sensors.end(), more.begin(), more.end());
    }
    if (sensors.empty()) {
      note_up("ipmi", false);
      return Status(Code::Corruption, "ipmitool names no sensor");
    }
    return sensors;
  }

  // The log itself only when it changed: a full one takes minutes.
  void read_sel(MetricSink& sink, const std::stop_token& stop) {
    const auto info = ask("sel", {"sel", "info"}, kShortDeadline, stop);
    if (!info) return;
    write_sel_info(sink, *info);
    const double entries = ipmitool_number(*info, "Entries").value_or(0);
    const std::string added(ipmitool_value(*info, "Last Add Time"));
    if (sel_read_ && entries == memory_.entries && added == memory_.last_added) return;
    const auto log = ask("sel-events", {"sel", "elist"}, kSelDeadline, stop);
    if (!log) return;
    memory_.take(parse_sel(*log));
    memory_.entries = entries;
    memory_.last_added = added;
    sel_read_ = true;
  }

  Result<std::string> ask(const std::string& part, std::vector<std::string> words, seconds deadline,
                          const std::stop_token& stop) {
    std::vector<std::string> argv = {"ipmitool"};
    argv.insert(argv.end(), arguments_.begin(), arguments_.end());
    argv.insert(argv.end(), words.begin(), words.end());
    auto output = run_command(argv, deadline, stop);
    note_up(part, output && output->exit_code == 0);
    if (!output) return std::move(output).error();
    cpu_seconds_ += output->cpu_seconds;
    if (output->exit_code != 0)
      return Status(
          Code::Unavailable,
          "ipmitool " + words[0] + ": " +
              std::string(trim(std::string_view(output->out)
                                   .substr(0, std::min<size_t>(output->out.find('\n'), 200)))));
    return std::move(output->out);
  }

  void note_up(const std::string& part, bool up) {
    up_[part] = up;
    if (up) last_success_[part] = clock_.now();
  }

  void write_up(MetricSink& sink) const {
    for (const auto& [part, up] : up_)
      sink.gauge("ipmi_up", "'1' if a scrape of the IPMI device was successful, '0' otherwise.")
          .add({{"collector", part}}, up ? 1 : 0);
    for (const auto& [part, at] : last_success_)
      sink.gauge("vagt_ipmi_last_success_timestamp_seconds", "When the BMC last answered.")
          .add({{"collector", part}}, to_seconds(at));
  }

  const std::string fixture_;
  const std::vector<std::string> arguments_;
  const std::string device_, state_path_;
  const std::shared_ptr<StateHealth> state_;
  const base::Logger log_;
  const Clock& clock_;
  PsuSettings settings_;
  BmcMemory memory_;
  std::map<std::string, bool> up_;
  std::map<std::string, Timestamp> last_success_;
  std::string info_, last_error_;
  Timestamp info_read_{};
  double cpu_seconds_ = 0;
  unsigned back_off_ = 0, skip_ = 0;
  bool sel_read_ = false;
};

}  // namespace

CollectorPtr make_ipmi(const Sources& sources, const Filters& filters) {
  return std::make_unique<IpmiCollector>(sources, filters);
}

}  // namespace vagt::agent

// Disks through smartctl: one at a time, sleeping ones left asleep, one that hangs left behind.
#include <algorithm>

#include "node-agent/collectors/collectors.h"
#include "node-agent/command.h"
#include "node-agent/disk/smart.h"

namespace vagt::agent {
namespace {

constexpr std::chrono::seconds kScanDeadline{20}, kNvmeDeadline{10}, kDiskDeadline{30};
constexpr Duration kDiskEvery = std::chrono::minutes(60);
constexpr size_t kMaxDevices = 256;

class SmartCollector final : public Collector {
 public:
  SmartCollector(const Sources& sources, const Filters& filters)
      : fixture_(sources.fixtures.smartctl),
        nvme_fixture_(sources.fixtures.nvme),
        program_(filters.smartctl),
        clock_(*sources.clock) {}
  std::string_view name() const override { return "smart"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    if (!fixture_.empty() || !nvme_fixture_.empty()) return collect_recorded(sink);
    VAGT_TRY(const std::vector<SmartDevice> devices, scan(stop));
    if (devices.empty()) return Status::not_found("smartctl finds no disk");
    sink.gauge("smartctl_devices", "Number of devices configured or dynamically discovered")
        .add(static_cast<double>(devices.size()));
    Status worst;
    for (size_t i = 0; i < std::min(devices.size(), kMaxDevices) && !stop.stop_requested(); ++i)
      if (Status status = collect_device(sink, devices[i], stop); !status.ok())
        worst = std::move(status);
    sink.counter("vagt_external_command_seconds_total", "CPU time of the programs we run.")
        .add({{"command", "smartctl"}}, cpu_seconds_);
    return worst;
  }

 private:
  struct Disk {
    std::string report;  // the last that had data
    Timestamp asked{}, answered{};
    bool media_log = true;  // until the drive says it has none
    std::shared_ptr<CommandSlot> slot = std::make_shared<CommandSlot>();
  };

  Status collect_recorded(MetricSink& sink) {
    std::string text;
    if (!nvme_fixture_.empty()) {
      VAGT_CHECK_OK(read_file(nvme_fixture_, text));
      VAGT_CHECK_OK(write_ocp_log(sink, text, "nvme0"));
    }
    if (fixture_.empty()) return {};
    std::vector<std::string> files = {fixture_};
    if (const auto names = list_directory(fixture_); !names.empty()) {
      files.clear();
      for (const std::string& name : names) files.push_back(Sources::join(fixture_, name));
    }
    for (const std::string& file : files) {
      VAGT_CHECK_OK(read_file(file, text));
      if (const auto written = write_smart(sink, text); !written && files.size() == 1)
        return written.error();
    }
    return {};
  }

  Result<std::vector<SmartDevice>> scan(const std::stop_token& stop) {
    VAGT_TRY(const CommandOutput output,
             run_command({program_, "--scan-open", "--json"}, kScanDeadline, stop, scan_slot_));
    cpu_seconds_ += output.cpu_seconds;
    auto devices = parse_smart_scan(output.out);
    if (!devices) return Status(devices.error()).at("smartctl --scan-open");
    return devices;
  }

  Status collect_device(MetricSink& sink, const SmartDevice& device, const std::stop_token& stop) {
    Disk& disk = disks_[device.name + ' ' + device.type];
    const bool nvme = device.protocol == "NVMe";
    Status status;
    const bool due = nvme || disk.asked == Timestamp{} || clock_.now() - disk.asked >= kDiskEvery;
    if (due) status = ask(sink, device, nvme, disk, stop);
    if (!disk.report.empty())
      if (const auto summary = write_smart(sink, disk.report))
        sink.gauge("vagt_smart_last_success_timestamp_seconds",
                   "When this disk's data was read the last time.")
            .add({{"device", summary->device}}, to_seconds(disk.answered));
    return status;
  }

  Status ask(MetricSink& sink, const SmartDevice& device, bool nvme, Disk& disk,
             const std::stop_token& stop) {
    std::vector<std::string> argv = {program_, "--json", "-a", "-n", "standby,2"};
    if (!device.type.empty()) argv.insert(argv.end(), {"-d", device.type});
    argv.push_back(device.name);
    disk.asked = clock_.now();
    auto output = run_command(argv, nvme ? kNvmeDeadline : kDiskDeadline, stop, disk.slot);
    if (!output) return Status(output.error()).at(device.name);
    cpu_seconds_ += output->cpu_seconds;
    MetricSink trial;
    const auto summary = write_smart(trial, output->out);
    if (!summary) return Status(summary.error()).at(device.name);
    if (summary->asleep && !disk.report.empty()) {
      sink.gauge("vagt_smart_device_asleep", "1: the disk sleeps, and was not woken for this.")
          .add({{"device", summary->device}}, 1);
      return {};  // what was known before is still shown
    }
    disk.report = std::move(output->out);
    disk.answered = clock_.now();
    if (nvme) ask_media_log(sink, device, summary->device, disk, stop);
    return {};
  }

  // Few drives have it; one that has none is not asked again.
  void ask_media_log(MetricSink& sink, const SmartDevice& device, const std::string& label,
                     Disk& disk, const std::stop_token& stop) {
    if (!disk.media_log) return;
    const auto output = run_command({"nvme", "ocp", "smart-add-log", device.name, "-o", "json"},
                                    kNvmeDeadline, stop, disk.slot);
    disk.media_log =
        output && output->exit_code == 0 && write_ocp_log(sink, output->out, label).ok();
  }

  const std::string fixture_, nvme_fixture_, program_;
  const Clock& clock_;
  std::map<std::string, Disk> disks_;
  std::shared_ptr<CommandSlot> scan_slot_ = std::make_shared<CommandSlot>();
  double cpu_seconds_ = 0;
};

}  // namespace

CollectorPtr make_smart(const Sources& sources, const Filters& filters) {
  return std::make_unique<SmartCollector>(sources, filters);
}

}  // namespace vagt::agent

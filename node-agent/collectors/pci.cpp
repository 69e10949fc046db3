// PCI links and their error counters for GPUs, NVMe drives and network cards.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

constexpr std::string_view kNvidia = "0x10de";

// "gpu", "nvme", "nic", or "" for what is not watched. `code` is `0x030200`.
std::string_view class_of(std::string_view code, std::string_view vendor) {
  const std::string_view kind = code.substr(0, 6);
  if ((kind == "0x0300" || kind == "0x0302") && vendor == kNvidia) return "gpu";
  if (kind == "0x0108") return "nvme";
  if (kind == "0x0200" || kind == "0x0207") return "nic";
  return "";
}

class PciCollector final : public Collector {
 public:
  explicit PciCollector(const Sources& sources) : directory_(sources.sys("bus/pci/devices")) {}
  std::string_view name() const override { return "pci"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto devices = list_directory(directory_);
    if (devices.empty()) return Status::not_found("no PCI bus");
    double gpus = 0;
    for (const std::string& device : devices) {
      const std::string path = directory_ + '/' + device;
      const std::string_view kind = kind_of(device, path);
      if (kind == "gpu") ++gpus;
      if (kind.empty()) continue;
      add_link(sink, path, device, kind);
      add_errors(sink, path, device);
    }
    sink.gauge("vagt_gpu_count", "GPUs by who counts them: nvml, pci, expected.")
        .add({{"source", "pci"}}, gpus);
    return {};
  }

 private:
  // A device at an address does not change its class; hundreds of bridges are read once.
  std::string_view kind_of(const std::string& device, const std::string& path) {
    const auto known = kinds_.find(device);
    if (known != kinds_.end()) return known->second;
    const std::string code = read_line(path + "/class").value_or(std::string());
    const std::string vendor = read_line(path + "/vendor").value_or(std::string());
    const std::string_view kind = class_of(code, vendor);
    if (!code.empty() && kinds_.size() < 65536) kinds_.emplace(device, kind);
    return kind;
  }

  static void add_link(MetricSink& sink, const std::string& path, const std::string& device,
                       std::string_view kind) {
    const LabelView labels[] = {{"class", kind}, {"pci_bus_id", device}};
    // A device off the bus reads all ones: width 63, speed `Unknown`.
    const auto width = [&](std::string_view file, std::string_view name, std::string_view help) {
      const auto value = read_number(path + '/' + std::string(file));
      if (value && *value > 0 && *value <= 32) sink.gauge(name, help).add(labels, *value);
    };
    const auto speed = [&](std::string_view file, std::string_view name, std::string_view help) {
      const auto text = read_line(path + '/' + std::string(file));
      if (!text) return;
      std::string_view rest = *text;
      if (const auto value = to_number(next_word(rest))) sink.gauge(name, help).add(labels, *value);
    };
    width("current_link_width", "vagt_pcie_link_width", "Lanes in use.");
    width("max_link_width", "vagt_pcie_link_max_width", "Lanes the device has.");
    speed("current_link_speed", "vagt_pcie_link_gts", "Speed of the link in GT/s.");
    speed("max_link_speed", "vagt_pcie_link_max_gts", "Speed the device can do in GT/s.");
  }

  void add_errors(MetricSink& sink, const std::string& path, const std::string& device) {
    constexpr std::pair<std::string_view, std::string_view> kSeverities[] = {
        {"correctable", "TOTAL_ERR_COR"},
        {"nonfatal", "TOTAL_ERR_NONFATAL"},
        {"fatal", "TOTAL_ERR_FATAL"}};
    for (const auto& [severity, total] : kSeverities) {
      if (!read_file(path + "/aer_dev_" + std::string(severity), text_).ok()) continue;
      std::string_view rest = text_, line;
      while (next_line(rest, line)) {
        if (next_word(line) != total) continue;
        if (const auto count = to_number(next_word(line)))
          sink.counter("vagt_pcie_aer_errors_total", "PCIe errors the device reported (AER).")
              .add({{"pci_bus_id", device}, {"severity", severity}}, *count);
      }
    }
  }

  const std::string directory_;
  std::string text_;
  std::map<std::string, std::string_view> kinds_;
};

}  // namespace

CollectorPtr make_pci(const Sources& sources, const Filters&) {
  return std::make_unique<PciCollector>(sources);
}

}  // namespace vagt::agent

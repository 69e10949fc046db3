// Entries of the ARP table by device.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class ArpCollector final : public Collector {
 public:
  ArpCollector(const Sources& sources, NameFilter devices)
      : file_(sources.proc("net/arp")), devices_(std::move(devices)) {}
  std::string_view name() const override { return "arp"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::map<std::string_view, double> entries;
    std::string_view rest = text_, line;
    next_line(rest, line);  // the header
    while (next_line(rest, line)) {
      const std::string_view trimmed = trim(line);
      const size_t blank = trimmed.find_last_of(" \t");
      if (blank == std::string_view::npos) continue;
      const std::string_view device = trimmed.substr(blank + 1);
      if (devices_.keeps(device)) ++entries[device];
    }
    Family& family = sink.gauge("node_arp_entries", "ARP entries by device");
    for (const auto& [device, count] : entries) family.add({{"device", device}}, count);
    return {};
  }

 private:
  KeptFile file_;
  const NameFilter devices_;
  std::string text_;
};

}  // namespace

CollectorPtr make_arp(const Sources& sources, const Filters& filters) {
  return std::make_unique<ArpCollector>(sources, filters.arp_devices);
}

}  // namespace vagt::agent

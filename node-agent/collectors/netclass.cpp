// Properties of the network devices: link, speed, MTU, flap counters.
#include <charconv>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

struct NumberFile {
  std::string_view file, name, type, help;
};
constexpr NumberFile kNumberFiles[] = {
    // Reading it fails while the interface is administratively down: then there is no sample.
    {"carrier", "node_network_carrier", "gauge", "Network device property: carrier"},
    {"carrier_changes", "node_network_carrier_changes_total", "counter",
     "Network device property: carrier_changes_total"},
    {"carrier_up_count", "node_network_carrier_up_changes_total", "counter",
     "Network device property: carrier_up_changes_total"},
    {"carrier_down_count", "node_network_carrier_down_changes_total", "counter",
     "Network device property: carrier_down_changes_total"},
    {"mtu", "node_network_mtu_bytes", "gauge", "Network device property: mtu_bytes"},
    {"tx_queue_len", "node_network_transmit_queue_length", "gauge",
     "Network device property: transmit_queue_length"},
};

class NetclassCollector final : public Collector {
 public:
  NetclassCollector(const Sources& sources, NameFilter devices)
      : directory_(sources.sys("class/net")), devices_(std::move(devices)) {}
  std::string_view name() const override { return "netclass"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto devices = list_directory(directory_);
    if (devices.empty()) return Status::not_found("no network device");
    for (const std::string& device : devices)
      // bonding_masters is a file among the devices.
      if (device != "bonding_masters" && devices_.keeps(device))
        add_device(sink, device, directory_ + '/' + device);
    return {};
  }

 private:
  static void add_device(MetricSink& sink, const std::string& device, const std::string& path) {
    const LabelView label[] = {{"device", device}};
    const auto text = [&path](std::string_view file) {
      return read_line(path + '/' + std::string(file)).value_or(std::string());
    };
    for (const NumberFile& number : kNumberFiles)
      if (const auto value = read_number(path + '/' + std::string(number.file)))
        sink.family(number.name, number.type, number.help).add(label, *value);
    const std::string state = text("operstate");
    sink.gauge("node_network_up", "Value is 1 if operstate is 'up', 0 otherwise.")
        .add(label, state == "up" ? 1 : 0);
    sink.gauge("node_network_info",
               "Non-numeric data from /sys/class/net/<iface>, value is always 1.")
        .add({{"address", text("address")},
              {"adminstate", is_up(text("flags")) ? "up" : "down"},
              {"broadcast", text("broadcast")},
              {"device", device},
              {"duplex", text("duplex")},
              {"ifalias", text("ifalias")},
              {"operstate", state}},
             1);
    const bool physical = exists(path + "/device");
    sink.gauge("vagt_network_physical", "1: hardware stands behind the device.")
        .add(label, physical ? 1 : 0);
    // -1 or an error is "unknown", not a link of speed 0 or less.
    const auto megabits = read_number(path + "/speed");
    if (!megabits || *megabits <= 0) return;
    sink.gauge("node_network_speed_bytes", "Network device property: speed_bytes")
        .add(label, *megabits * 1e6 / 8);
    if (physical)
      sink.gauge("vagt_network_link_speed_bytes", "Negotiated speed of a physical link.")
          .add(label, *megabits * 1e6 / 8);
  }

  // IFF_UP of `0x1003`.
  static bool is_up(std::string_view flags) {
    unsigned value = 0;
    if (flags.substr(0, 2) == "0x") flags.remove_prefix(2);
    std::from_chars(flags.data(), flags.data() + flags.size(), value, 16);
    return (value & 1) != 0;
  }

  const std::string directory_;
  const NameFilter devices_;
};

}  // namespace

CollectorPtr make_netclass(const Sources& sources, const Filters& filters) {
  return std::make_unique<NetclassCollector>(sources, filters.netclass_devices);
}

}  // namespace vagt::agent

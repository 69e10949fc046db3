// Properties of the network devices: link, speed, MTU, flap counters.
//
// On the live system one netlink question answers all but speed and duplex; recorded hosts, and
// another system's /sys, are read file by file.
#include <net/if.h>

#include <charconv>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"
#include "node-agent/links.h"

namespace vagt::agent {
namespace {

struct Property {
  std::optional<uint32_t> Link::*member;
  std::string_view file, name, type, help;
};
constexpr Property kProperties[] = {
    // Unknown while the interface is administratively down: then there is no sample.
    {&Link::carrier, "carrier", "node_network_carrier", "gauge",
     "Network device property: carrier"},
    {&Link::carrier_changes, "carrier_changes", "node_network_carrier_changes_total", "counter",
     "Network device property: carrier_changes_total"},
    {&Link::carrier_up, "carrier_up_count", "node_network_carrier_up_changes_total", "counter",
     "Network device property: carrier_up_changes_total"},
    {&Link::carrier_down, "carrier_down_count", "node_network_carrier_down_changes_total",
     "counter", "Network device property: carrier_down_changes_total"},
    {&Link::mtu, "mtu", "node_network_mtu_bytes", "gauge", "Network device property: mtu_bytes"},
    {&Link::tx_queue_len, "tx_queue_len", "node_network_transmit_queue_length", "gauge",
     "Network device property: transmit_queue_length"},
};

// What a device says beside its link.
struct Settings {
  std::string_view operstate, duplex;
  std::optional<double> megabits;
  bool physical = false;
};

class NetclassCollector final : public Collector {
 public:
  NetclassCollector(const Sources& sources, NameFilter devices)
      : directory_(sources.sys("class/net")),
        live_(sources.sysfs == "/sys"),
        devices_(std::move(devices)) {}
  std::string_view name() const override { return "netclass"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    find_families(sink);
    if (live_)
      if (const auto links = links_.read()) {
        for (const Link& link : *links)
          if (keeps(link.device)) add_live(link);
        forget_gone(*links);
        return links->empty() ? Status::not_found("no network device") : Status();
      }
    const auto devices = list_directory(directory_);
    if (devices.empty()) return Status::not_found("no network device");
    for (const std::string& device : devices)
      // bonding_masters is a file among the devices.
      if (device != "bonding_masters" && keeps(device)) add_recorded(device);
    return {};
  }

 private:
  // A device of this name and number; another one later is another entry.
  struct Known {
    Known(const std::string& path, int number)
        : speed(path + "/speed"),
          duplex(path + "/duplex"),
          index(number),
          physical(exists(path + "/device")) {}
    KeptFile speed, duplex;
    const int index;
    const bool physical;
  };

  void find_families(MetricSink& sink) {
    for (size_t i = 0; i < std::size(kProperties); ++i)
      numbers_[i] = &sink.family(kProperties[i].name, kProperties[i].type, kProperties[i].help);
    up_ = &sink.gauge("node_network_up", "Value is 1 if operstate is 'up', 0 otherwise.");
    info_ = &sink.gauge("node_network_info",
                        "Non-numeric data from /sys/class/net/<iface>, value is always 1.");
    physical_ = &sink.gauge("vagt_network_physical", "1: hardware stands behind the device.");
    speed_ = &sink.gauge("node_network_speed_bytes", "Network device property: speed_bytes");
    link_speed_ =
        &sink.gauge("vagt_network_link_speed_bytes", "Negotiated speed of a physical link.");
  }

  bool keeps(const std::string& device) {
    const auto known = kept_.find(device);
    if (known != kept_.end()) return known->second;
    if (kept_.size() > 4096) kept_.clear();
    return kept_.emplace(device, devices_.keeps(device)).first->second;
  }

  void add_live(const Link& link) {
    auto found = known_.find(link.device);
    if (found != known_.end() && found->second.index != link.index) {
      known_.erase(found);
      found = known_.end();
    }
    if (found == known_.end())
      found = known_.try_emplace(link.device, directory_ + '/' + link.device, link.index).first;
    Known& known = found->second;
    Settings settings;
    settings.operstate = operstate_name(link.operstate);
    settings.duplex = known.duplex.line(text_).value_or(std::string_view());
    settings.megabits = known.speed.number();
    settings.physical = known.physical;
    add(link, settings, (link.flags & IFF_UP) != 0);
  }

  void forget_gone(std::span<const Link> links) {
    if (known_.size() <= links.size()) return;
    for (auto entry = known_.begin(); entry != known_.end();) {
      bool here = false;
      for (const Link& link : links) here = here || link.device == entry->first;
      entry = here ? std::next(entry) : known_.erase(entry);
    }
  }

  void add_recorded(const std::string& device) {
    const std::string path = directory_ + '/' + device;
    const auto text = [&path](std::string_view file) {
      return read_line(path + '/' + std::string(file)).value_or(std::string());
    };
    Link link;
    link.device = device;
    for (const Property& property : kProperties)
      if (const auto value = read_number(path + '/' + std::string(property.file)))
        link.*property.member = static_cast<uint32_t>(*value);
    link.address = text("address");
    link.broadcast = text("broadcast");
    link.alias = text("ifalias");
    const std::string operstate = text("operstate"), duplex = text("duplex");
    add(link, {operstate, duplex, read_number(path + "/speed"), exists(path + "/device")},
        is_up(text("flags")));
  }

  void add(const Link& link, const Settings& settings, bool admin_up) {
    const LabelView label[] = {{"device", link.device}};
    for (size_t i = 0; i < std::size(kProperties); ++i) {
      const auto& value = link.*kProperties[i].member;
      // Netlink tells a carrier for interfaces that are down, too.
      if (value && (i > 0 || admin_up || !live_)) numbers_[i]->add(label, *value);
    }
    up_->add(label, settings.operstate == "up" ? 1 : 0);
    info_->add({{"address", link.address},
                {"adminstate", admin_up ? "up" : "down"},
                {"broadcast", link.broadcast},
                {"device", link.device},
                {"duplex", settings.duplex},
                {"ifalias", link.alias},
                {"operstate", settings.operstate}},
               1);
    physical_->add(label, settings.physical ? 1 : 0);
    // -1 or an error is "unknown", not a link of speed 0 or less.
    if (!settings.megabits || *settings.megabits <= 0) return;
    speed_->add(label, *settings.megabits * 1e6 / 8);
    if (settings.physical) link_speed_->add(label, *settings.megabits * 1e6 / 8);
  }

  // IFF_UP of `0x1003`.
  static bool is_up(std::string_view flags) {
    unsigned value = 0;
    if (flags.substr(0, 2) == "0x") flags.remove_prefix(2);
    std::from_chars(flags.data(), flags.data() + flags.size(), value, 16);
    return (value & IFF_UP) != 0;
  }

  const std::string directory_;
  const bool live_;
  const NameFilter devices_;
  LinkReader links_{LinkReader::Stats::Without};
  std::map<std::string, Known> known_;
  std::map<std::string, bool> kept_;  // what the filter said
  std::string text_;
  // Of this run's sink.
  Family *numbers_[std::size(kProperties)] = {}, *up_ = nullptr, *info_ = nullptr,
         *physical_ = nullptr, *speed_ = nullptr, *link_speed_ = nullptr;
};

}  // namespace

CollectorPtr make_netclass(const Sources& sources, const Filters& filters) {
  return std::make_unique<NetclassCollector>(sources, filters.netclass_devices);
}

}  // namespace vagt::agent

// Network device counters, by netlink on the live system and from /proc/net/dev elsewhere.
#include <array>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"
#include "node-agent/links.h"

namespace vagt::agent {
namespace {

// /proc/net/dev's columns, receive then transmit, as node_exporter names them.
constexpr std::array<std::string_view, 16> kNames = {
    "receive_bytes",  "receive_packets",  "receive_errs",       "receive_drop",
    "receive_fifo",   "receive_frame",    "receive_compressed", "receive_multicast",
    "transmit_bytes", "transmit_packets", "transmit_errs",      "transmit_drop",
    "transmit_fifo",  "transmit_colls",   "transmit_carrier",   "transmit_compressed"};

// The same sums as the kernel's net/core/net-procfs.c.
std::array<uint64_t, kNames.size()> columns_of(const rtnl_link_stats64& s) {
  return {s.rx_bytes,
          s.rx_packets,
          s.rx_errors,
          s.rx_dropped + s.rx_missed_errors,
          s.rx_fifo_errors,
          s.rx_length_errors + s.rx_over_errors + s.rx_crc_errors + s.rx_frame_errors,
          s.rx_compressed,
          s.multicast,
          s.tx_bytes,
          s.tx_packets,
          s.tx_errors,
          s.tx_dropped,
          s.tx_fifo_errors,
          s.collisions,
          s.tx_carrier_errors + s.tx_aborted_errors + s.tx_window_errors + s.tx_heartbeat_errors,
          s.tx_compressed};
}

class NetdevCollector final : public Collector {
 public:
  NetdevCollector(const Sources& sources, NameFilter devices)
      : file_(sources.proc("net/dev")),
        live_(sources.procfs == "/proc"),
        devices_(std::move(devices)) {
    for (size_t i = 0; i < kNames.size(); ++i) {
      names_[i] = "node_network_" + std::string(kNames[i]) + "_total";
      helps_[i] = "Network device statistic " + std::string(kNames[i]) + ".";
    }
  }
  std::string_view name() const override { return "netdev"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    if (live_)
      if (const auto links = links_.read()) {
        for (const Link& link : *links) add_link(sink, link);
        return {};
      }
    return collect_file(sink);
  }

 private:
  void add_link(MetricSink& sink, const Link& link) {
    if (!devices_.keeps(link.device)) return;
    const LabelView label[] = {{"device", link.device}};
    const auto columns = columns_of(link.stats);
    for (size_t i = 0; i < columns.size(); ++i)
      sink.counter(names_[i], helps_[i]).add(label, static_cast<double>(columns[i]));
    sink.counter("node_network_receive_nohandler_total",
                 "Network device statistic receive_nohandler.")
        .add(label, static_cast<double>(link.stats.rx_nohandler));
  }

  Status collect_file(MetricSink& sink) {
    VAGT_CHECK_OK(file_.read(text_));
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      const size_t colon = line.rfind(':');
      if (colon == std::string_view::npos) continue;  // the two header lines
      const std::string_view device = trim(line.substr(0, colon));
      std::string_view fields = line.substr(colon + 1);
      if (!devices_.keeps(device)) continue;
      for (size_t i = 0; i < kNames.size(); ++i) {
        const auto number = to_number(next_word(fields));
        if (!number) return Status(Code::Corruption, file_.path() + ": fewer than 16 columns");
        sink.counter(names_[i], helps_[i]).add({{"device", device}}, *number);
      }
    }
    return {};
  }

  KeptFile file_;
  LinkReader links_{LinkReader::Stats::With};
  const bool live_;
  const NameFilter devices_;
  std::array<std::string, kNames.size()> names_, helps_;
  std::string text_;
};

}  // namespace

CollectorPtr make_netdev(const Sources& sources, const Filters& filters) {
  return std::make_unique<NetdevCollector>(sources, filters.net_devices);
}

}  // namespace vagt::agent

// InfiniBand and RoCE ports: state, rate, counters, and the congestion counters of RDMA.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

struct PortCounter {
  std::string_view file, name, help;
  double factor = 1;
};
constexpr PortCounter kPortCounters[] = {
    {"link_downed", "node_infiniband_link_downed_total",
     "Number of times the link failed to recover from an error state and went down"},
    {"link_error_recovery", "node_infiniband_link_error_recovery_total",
     "Number of times the link successfully recovered from an error state"},
    {"port_rcv_errors", "node_infiniband_port_errors_received_total",
     "Number of packets containing an error that were received on this port"},
    {"port_xmit_discards", "node_infiniband_port_discards_transmitted_total",
     "Number of outbound packets discarded by the port because the port is down or congested"},
    // In words of 32 bits.
    {"port_rcv_data", "node_infiniband_port_data_received_bytes_total",
     "Number of data octets received on all links", 4},
    {"port_xmit_data", "node_infiniband_port_data_transmitted_bytes_total",
     "Number of data octets transmitted on all links", 4},
    {"port_rcv_packets", "node_infiniband_port_packets_received_total",
     "Number of packets received on all VLs by this port (including errors)"},
    {"port_xmit_packets", "node_infiniband_port_packets_transmitted_total",
     "Number of packets transmitted on all VLs from this port (including errors)"},
    {"port_xmit_wait", "node_infiniband_port_transmit_wait_total",
     "Number of ticks during which the port had data to transmit but no data was sent during the "
     "entire tick"},
};
constexpr std::string_view kRdmaCounters[] = {
    "out_of_sequence",   "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err",
    "roce_slow_restart", "np_cnp_sent",    "rp_cnp_handled",        "np_ecn_marked_roce_packets"};

class InfinibandCollector final : public Collector {
 public:
  explicit InfinibandCollector(const Sources& sources)
      : directory_(sources.sys("class/infiniband")) {}
  std::string_view name() const override { return "infiniband"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto devices = list_directory(directory_);
    if (devices.empty()) return Status::not_found("no InfiniBand device");
    for (const std::string& device : devices) {
      const std::string path = directory_ + '/' + device;
      const auto text = [&path](std::string_view file) {
        return read_line(path + '/' + std::string(file)).value_or(std::string());
      };
      sink.gauge("node_infiniband_info",
                 "Non-numeric data from /sys/class/infiniband/<device>, value is always 1.")
          .add({{"board_id", text("board_id")},
                {"device", device},
                {"firmware_version", text("fw_ver")},
                {"hca_type", text("hca_type")}},
               1);
      for (const std::string& port : list_directory(path + "/ports"))
        add_port(sink, path + "/ports/" + port, device, port);
    }
    return {};
  }

 private:
  static void add_port(MetricSink& sink, const std::string& path, const std::string& device,
                       const std::string& port) {
    const LabelView labels[] = {{"device", device}, {"port", port}};
    // `4: ACTIVE`
    const auto id = [&path](std::string_view file) -> std::optional<double> {
      const auto text = read_line(path + '/' + std::string(file));
      if (!text) return std::nullopt;
      return to_number(std::string_view(*text).substr(0, text->find(':')));
    };
    if (const auto state = id("state"))
      sink.gauge("node_infiniband_state_id",
                 "State of the InfiniBand port (0: no change, 1: down, 2: init, 3: armed, "
                 "4: active, 5: act defer)")
          .add(labels, *state);
    if (const auto state = id("phys_state"))
      sink.gauge("node_infiniband_physical_state_id",
                 "Physical state of the InfiniBand port (0: no change, 1: sleep, 2: polling, "
                 "3: disable, 4: shift, 5: link up, 6: link error recover, 7: phytest)")
          .add(labels, *state);
    // `400 Gb/sec (4X NDR)`
    if (const auto rate = read_line(path + "/rate")) {
      std::string_view rest = *rate;
      if (const auto gigabits = to_number(next_word(rest)))
        sink.gauge("node_infiniband_rate_bytes_per_second",
                   "Maximum signal transfer rate in bytes per second")
            .add(labels, *gigabits * 1e9 / 8);
    }
    for (const PortCounter& counter : kPortCounters)
      // A port without a performance agent reads `N/A (no PMA)`.
      if (const auto value = read_number(path + "/counters/" + std::string(counter.file)))
        sink.counter(counter.name, counter.help).add(labels, *value * counter.factor);
    for (const std::string_view counter : kRdmaCounters)
      if (const auto value = read_number(path + "/hw_counters/" + std::string(counter)))
        sink.counter("vagt_rdma_" + std::string(counter) + "_total",
                     "hw_counters/" + std::string(counter) + " of the RDMA port.")
            .add(labels, *value);
  }

  const std::string directory_;
};

}  // namespace

CollectorPtr make_infiniband(const Sources& sources, const Filters&) {
  return std::make_unique<InfinibandCollector>(sources);
}

}  // namespace vagt::agent

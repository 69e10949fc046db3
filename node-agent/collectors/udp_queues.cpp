// Bytes waiting in UDP sockets.
#include <charconv>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class UdpQueuesCollector final : public Collector {
 public:
  explicit UdpQueuesCollector(const Sources& sources)
      : udp_(sources.proc("net/udp")), udp6_(sources.proc("net/udp6")) {}
  std::string_view name() const override { return "udp_queues"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const bool four = add(sink, udp_, "v4"), six = add(sink, udp6_, "v6");
    return four || six ? Status() : Status::not_found(udp_.path() + " cannot be read");
  }

 private:
  bool add(MetricSink& sink, KeptFile& file, std::string_view ip) {
    if (!file.read(text_).ok()) return false;
    uint64_t tx = 0, rx = 0;
    std::string_view rest = text_, line;
    next_line(rest, line);  // the header
    while (next_line(rest, line)) {
      for (int skip = 0; skip < 4; ++skip) next_word(line);
      const std::string_view queues = next_word(line);  // tx_queue:rx_queue, hexadecimal
      const size_t colon = queues.find(':');
      if (colon == std::string_view::npos) continue;
      tx += hex(queues.substr(0, colon));
      rx += hex(queues.substr(colon + 1));
    }
    Family& family = sink.gauge(
        "node_udp_queues", "Number of allocated memory in the kernel for UDP datagrams in bytes.");
    family.add({{"ip", ip}, {"queue", "rx"}}, static_cast<double>(rx));
    family.add({{"ip", ip}, {"queue", "tx"}}, static_cast<double>(tx));
    return true;
  }

  static uint64_t hex(std::string_view text) {
    uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return value;
  }

  KeptFile udp_, udp6_;
  std::string text_;
};

}  // namespace

CollectorPtr make_udp_queues(const Sources& sources, const Filters&) {
  return std::make_unique<UdpQueuesCollector>(sources);
}

}  // namespace vagt::agent

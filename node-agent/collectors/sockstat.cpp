// Sockets in use by protocol.
#include <unistd.h>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class SockstatCollector final : public Collector {
 public:
  explicit SockstatCollector(const Sources& sources)
      : four_(sources.proc("net/sockstat")), six_(sources.proc("net/sockstat6")) {}
  std::string_view name() const override { return "sockstat"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(four_.read(text_));
    add_lines(sink);
    if (six_.read(text_).ok()) add_lines(sink);
    return {};
  }

 private:
  // `TCP: inuse 35 orphan 0 tw 4 alloc 59 mem 22`
  void add_lines(MetricSink& sink) {
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      std::string protocol(next_word(line));
      if (protocol.empty()) continue;
      protocol.pop_back();
      for (auto key = next_word(line); !key.empty(); key = next_word(line)) {
        const auto number = to_number(next_word(line));
        if (!number) break;
        if (protocol == "sockets") {
          sink.gauge("node_sockstat_sockets_used", "Number of IPv4 sockets in use.").add(*number);
          continue;
        }
        add(sink, protocol, std::string(key), *number);
        const bool in_pages = key == "mem" && (protocol == "TCP" || protocol == "UDP");
        if (in_pages) add(sink, protocol, "mem_bytes", *number * page_size_);
      }
    }
  }

  static void add(MetricSink& sink, const std::string& protocol, const std::string& key,
                  double value) {
    sink.gauge("node_sockstat_" + protocol + '_' + key,
               "Number of " + protocol + " sockets in state " + key + '.')
        .add(value);
  }

  KeptFile four_, six_;
  const double page_size_ = static_cast<double>(sysconf(_SC_PAGESIZE));
  std::string text_;
};

}  // namespace

CollectorPtr make_sockstat(const Sources& sources, const Filters&) {
  return std::make_unique<SockstatCollector>(sources);
}

}  // namespace vagt::agent

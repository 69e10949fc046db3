// How full the connection tracking table is.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class ConntrackCollector final : public Collector {
 public:
  explicit ConntrackCollector(const Sources& sources)
      : entries_(sources.proc("sys/net/netfilter/nf_conntrack_count")),
        limit_(sources.proc("sys/net/netfilter/nf_conntrack_max")) {}
  std::string_view name() const override { return "conntrack"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto entries = entries_.number();
    if (!entries) return Status::not_found("nf_conntrack is not loaded");
    sink.gauge("node_nf_conntrack_entries",
               "Number of currently allocated flow entries for connection tracking.")
        .add(*entries);
    if (const auto limit = limit_.number())
      sink.gauge("node_nf_conntrack_entries_limit", "Maximum size of connection tracking table.")
          .add(*limit);
    return {};
  }

 private:
  KeptFile entries_, limit_;
};

}  // namespace

CollectorPtr make_conntrack(const Sources& sources, const Filters&) {
  return std::make_unique<ConntrackCollector>(sources);
}

}  // namespace vagt::agent

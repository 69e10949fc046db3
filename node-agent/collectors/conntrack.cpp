// How full the connection tracking table is.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class ConntrackCollector final : public Collector {
 public:
  explicit ConntrackCollector(const Sources& sources)
      : directory_(sources.proc("sys/net/netfilter")) {}
  std::string_view name() const override { return "conntrack"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto entries = read_number(directory_ + "/nf_conntrack_count");
    if (!entries) return Status::not_found("nf_conntrack is not loaded");
    sink.gauge("node_nf_conntrack_entries",
               "Number of currently allocated flow entries for connection tracking.")
        .add(*entries);
    if (const auto limit = read_number(directory_ + "/nf_conntrack_max"))
      sink.gauge("node_nf_conntrack_entries_limit", "Maximum size of connection tracking table.")
          .add(*limit);
    return {};
  }

 private:
  const std::string directory_;
};

}  // namespace

CollectorPtr make_conntrack(const Sources& sources, const Filters&) {
  return std::make_unique<ConntrackCollector>(sources);
}

}  // namespace vagt::agent

// The kernel's random pool.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class EntropyCollector final : public Collector {
 public:
  explicit EntropyCollector(const Sources& sources)
      : directory_(sources.proc("sys/kernel/random")) {}
  std::string_view name() const override { return "entropy"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto available = read_number(directory_ + "/entropy_avail");
    const auto size = read_number(directory_ + "/poolsize");
    if (!available && !size) return Status::not_found(directory_ + " cannot be read");
    if (available)
      sink.gauge("node_entropy_available_bits", "Bits of available entropy.").add(*available);
    if (size) sink.gauge("node_entropy_pool_size_bits", "Bits of entropy pool.").add(*size);
    return {};
  }

 private:
  const std::string directory_;
};

}  // namespace

CollectorPtr make_entropy(const Sources& sources, const Filters&) {
  return std::make_unique<EntropyCollector>(sources);
}

}  // namespace vagt::agent

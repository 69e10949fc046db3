// The kernel's random pool.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class EntropyCollector final : public Collector {
 public:
  explicit EntropyCollector(const Sources& sources)
      : available_(sources.proc("sys/kernel/random/entropy_avail")),
        size_(sources.proc("sys/kernel/random/poolsize")) {}
  std::string_view name() const override { return "entropy"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto available = available_.number();
    const auto size = size_.number();
    if (!available && !size) return Status::not_found(available_.path() + " cannot be read");
    if (available)
      sink.gauge("node_entropy_available_bits", "Bits of available entropy.").add(*available);
    if (size) sink.gauge("node_entropy_pool_size_bits", "Bits of entropy pool.").add(*size);
    return {};
  }

 private:
  KeptFile available_, size_;
};

}  // namespace

CollectorPtr make_entropy(const Sources& sources, const Filters&) {
  return std::make_unique<EntropyCollector>(sources);
}

}  // namespace vagt::agent

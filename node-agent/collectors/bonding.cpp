// Bonds: slaves configured and slaves with a link.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class BondingCollector final : public Collector {
 public:
  explicit BondingCollector(const Sources& sources) : net_(sources.sys("class/net")) {}
  std::string_view name() const override { return "bonding"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    std::string masters;
    VAGT_CHECK_OK(read_file(net_ + "/bonding_masters", masters));
    std::string_view rest = masters;
    for (auto master = next_word(rest); !master.empty(); master = next_word(rest))
      add_bond(sink, std::string(master));
    return {};
  }

 private:
  void add_bond(MetricSink& sink, const std::string& master) {
    const std::string slaves =
        read_line(net_ + '/' + master + "/bonding/slaves").value_or(std::string());
    double configured = 0, active = 0;
    std::string_view rest = slaves;
    for (auto slave = next_word(rest); !slave.empty(); slave = next_word(rest)) {
      ++configured;
      if (has_link(master, std::string(slave))) ++active;
    }
    sink.gauge("node_bonding_slaves", "Number of configured slaves per bonding interface.")
        .add({{"master", master}}, configured);
    sink.gauge("node_bonding_active", "Number of active slaves per bonding interface.")
        .add({{"master", master}}, active);
  }

  // The directory's name changed over the kernel versions.
  bool has_link(const std::string& master, const std::string& slave) const {
    for (const std::string& directory :
         {net_ + '/' + master + "/lower_" + slave, net_ + '/' + master + "/slave_" + slave,
          net_ + '/' + slave})
      if (const auto status = read_line(directory + "/bonding_slave/mii_status"))
        return *status == "up";
    return false;
  }

  const std::string net_;
};

}  // namespace

CollectorPtr make_bonding(const Sources& sources, const Filters&) {
  return std::make_unique<BondingCollector>(sources);
}

}  // namespace vagt::agent

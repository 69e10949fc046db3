// ACPI adapters. Server power supplies are the BMC's.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class PowersupplyCollector final : public Collector {
 public:
  PowersupplyCollector(const Sources& sources, NameFilter supplies)
      : directory_(sources.sys("class/power_supply")), supplies_(std::move(supplies)) {}
  std::string_view name() const override { return "powersupplyclass"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    bool any = false;
    for (const std::string& supply : list_directory(directory_)) {
      if (!supplies_.keeps(supply)) continue;
      any = true;
      if (const auto online = read_number(directory_ + '/' + supply + "/online"))
        sink.gauge("node_power_supply_online",
                   "online value of /sys/class/power_supply/<power_supply>.")
            .add({{"power_supply", supply}}, *online);
    }
    return any ? Status() : Status::not_found("no power supply class");
  }

 private:
  const std::string directory_;
  const NameFilter supplies_;
};

}  // namespace

CollectorPtr make_powersupply(const Sources& sources, const Filters& filters) {
  return std::make_unique<PowersupplyCollector>(sources, filters.power_supplies);
}

}  // namespace vagt::agent

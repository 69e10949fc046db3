// What the firmware says of the machine. Serials are readable by root only.
#include <array>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kDmiFiles = {{
    {"bios_date", "bios_date"},
    {"bios_release", "bios_release"},
    {"bios_vendor", "bios_vendor"},
    {"bios_version", "bios_version"},
    {"board_asset_tag", "board_asset_tag"},
    {"board_name", "board_name"},
    {"board_serial", "board_serial"},
    {"board_vendor", "board_vendor"},
    {"board_version", "board_version"},
    {"chassis_asset_tag", "chassis_asset_tag"},
    {"chassis_serial", "chassis_serial"},
    {"chassis_vendor", "chassis_vendor"},
    {"chassis_version", "chassis_version"},
    {"product_family", "product_family"},
    {"product_name", "product_name"},
    {"product_serial", "product_serial"},
    {"product_sku", "product_sku"},
    {"product_uuid", "product_uuid"},
    {"product_version", "product_version"},
    {"sys_vendor", "system_vendor"},
}};

class DmiCollector final : public Collector {
 public:
  explicit DmiCollector(const Sources& sources) : directory_(sources.sys("class/dmi/id")) {}
  std::string_view name() const override { return "dmi"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    if (!values_) read_values();
    if (values_->empty()) return Status::not_found("no DMI");
    std::vector<LabelView> labels;
    for (const auto& [label, value] : *values_) labels.push_back({label, value});
    sink.gauge("node_dmi_info",
               "A metric with a constant '1' value labeled by the texts of the firmware's tables.")
        .add(labels, 1);
    return {};
  }

 private:
  // Once: they change with a new board.
  void read_values() {
    values_.emplace();
    for (const auto& [file, label] : kDmiFiles)
      if (auto value = read_line(directory_ + '/' + std::string(file)))
        values_->emplace_back(label, std::move(*value));
  }

  const std::string directory_;
  std::optional<std::vector<std::pair<std::string, std::string>>> values_;
};

}  // namespace

CollectorPtr make_dmi(const Sources& sources, const Filters&) {
  return std::make_unique<DmiCollector>(sources);
}

}  // namespace vagt::agent

// NVMe controllers and whether they live.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class NvmeCollector final : public Collector {
 public:
  explicit NvmeCollector(const Sources& sources) : directory_(sources.sys("class/nvme")) {}
  std::string_view name() const override { return "nvme"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    const auto devices = list_directory(directory_);
    if (devices.empty()) return Status::not_found("no NVMe controller");
    for (const std::string& device : devices) {
      const std::string path = directory_ + '/' + device;
      const auto text = [&path](std::string_view file) {
        return read_line(path + '/' + std::string(file)).value_or(std::string());
      };
      const std::string state = text("state");
      sink.gauge("node_nvme_info",
                 "Non-numeric data from /sys/class/nvme/<device>, value is always 1.")
          .add({{"cntlid", text("cntlid")},
                {"device", device},
                {"firmware_revision", text("firmware_rev")},
                {"model", text("model")},
                {"serial", text("serial")},
                {"state", state}},
               1);
      if (!state.empty())
        sink.gauge("vagt_nvme_state", "1: the controller is live; 0: resetting, connecting, dead.")
            .add({{"device", device}}, state == "live" ? 1 : 0);
    }
    return {};
  }

 private:
  const std::string directory_;
};

}  // namespace

CollectorPtr make_nvme(const Sources& sources, const Filters&) {
  return std::make_unique<NvmeCollector>(sources);
}

}  // namespace vagt::agent

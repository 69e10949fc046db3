// State of the ZFS pools.
#include <array>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

constexpr std::array<std::string_view, 7> kStates = {"degraded", "faulted",   "offline", "online",
                                                     "removed",  "suspended", "unavail"};

class ZfsCollector final : public Collector {
 public:
  explicit ZfsCollector(const Sources& sources) : directory_(sources.proc("spl/kstat/zfs")) {}
  std::string_view name() const override { return "zfs"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    if (!exists(directory_)) return Status::not_found("no ZFS");
    for (const std::string& pool : list_directory(directory_)) {
      auto state = read_line(directory_ + '/' + pool + "/state");
      if (!state) continue;
      for (char& c : *state)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      for (const std::string_view known : kStates)
        sink.gauge("node_zfs_zpool_state", "kstat.zfs.misc.state")
            .add({{"state", known}, {"zpool", pool}}, *state == known ? 1 : 0);
    }
    return {};
  }

 private:
  const std::string directory_;
};

}  // namespace

CollectorPtr make_zfs(const Sources& sources, const Filters&) {
  return std::make_unique<ZfsCollector>(sources);
}

}  // namespace vagt::agent

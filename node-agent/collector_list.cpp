#include "node-agent/collector_list.h"

#include <array>

namespace vagt::agent {
namespace {

using std::chrono::milliseconds;

constexpr CollectorKind in_scrape(std::string_view name, MakeCollector* make, bool on = true) {
  return {name, make, on, milliseconds(0), std::chrono::seconds(5)};
}
[[maybe_unused]] constexpr CollectorKind in_background(std::string_view name, MakeCollector* make,
                                                       std::chrono::seconds cadence,
                                                       std::chrono::seconds deadline) {
  return {name, make, true, cadence, deadline};
}

constexpr CollectorKind kKinds[] = {
    in_scrape("cpu", make_cpu),
    in_scrape("diskstats", make_diskstats),
    in_scrape("filesystem", make_filesystem),
    in_scrape("loadavg", make_loadavg),
    in_scrape("meminfo", make_meminfo),
    in_scrape("netdev", make_netdev),
    in_scrape("stat", make_stat),
    in_scrape("time", make_time),
    in_scrape("uname", make_uname),
    in_scrape("vmstat", make_vmstat),
};

}  // namespace

std::span<const CollectorKind> collector_kinds() { return kKinds; }

const CollectorKind* find_collector(std::string_view name) {
  for (const CollectorKind& kind : kKinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace vagt::agent

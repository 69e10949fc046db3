#include "node-agent/collector_list.h"

#include <array>

namespace vagt::agent {
namespace {

using std::chrono::milliseconds;

constexpr CollectorKind in_scrape(std::string_view name, MakeCollector* make, bool on = true) {
  return {name, make, on, milliseconds(0), std::chrono::seconds(5)};
}
constexpr CollectorKind in_background(std::string_view name, MakeCollector* make,
                                      std::chrono::seconds cadence, std::chrono::seconds deadline,
                                      bool on = true) {
  return {name, make, on, cadence, deadline};
}

constexpr CollectorKind kKinds[] = {
    in_scrape("arp", make_arp),
    in_scrape("bonding", make_bonding),
    in_scrape("conntrack", make_conntrack),
    in_background("containers", make_containers, std::chrono::seconds(30),
                  std::chrono::seconds(25)),
    in_scrape("cpu", make_cpu),
    in_background("cpufreq", make_cpufreq, std::chrono::seconds(60), std::chrono::seconds(5)),
    in_scrape("cpu_vulnerabilities", make_vulnerabilities, false),
    in_scrape("diskstats", make_diskstats),
    in_scrape("dmi", make_dmi),
    in_background("driver_readiness", make_driver_readiness, std::chrono::seconds(600),
                  std::chrono::seconds(60)),
    in_scrape("edac", make_edac),
    in_scrape("entropy", make_entropy),
    in_background("ethtool", make_ethtool, std::chrono::seconds(60), std::chrono::seconds(20),
                  false),
    in_scrape("filefd", make_filefd),
    in_scrape("filesystem", make_filesystem),
    in_background("gpu", make_gpu, std::chrono::seconds(10), std::chrono::seconds(45)),
    in_scrape("hwmon", make_hwmon),
    in_scrape("infiniband", make_infiniband),
    in_scrape("interrupts", make_interrupts, false),
    in_background("ipmi", make_ipmi, std::chrono::seconds(60), std::chrono::seconds(200)),
    in_scrape("kernel", make_kernel),
    in_background("kernel_log", make_kernel_log, std::chrono::seconds(5), std::chrono::seconds(5)),
    in_background("links", make_links, std::chrono::seconds(60), std::chrono::seconds(20)),
    in_scrape("loadavg", make_loadavg),
    in_scrape("mdadm", make_mdadm),
    in_scrape("meminfo", make_meminfo),
    in_scrape("netclass", make_netclass),
    in_scrape("netdev", make_netdev),
    in_scrape("netstat", make_netstat),
    in_background("ntp", make_ntp, std::chrono::seconds(60), std::chrono::seconds(5), false),
    in_scrape("nvme", make_nvme),
    in_scrape("os", make_os),
    in_scrape("pci", make_pci),
    in_scrape("powersupplyclass", make_powersupply),
    in_scrape("pressure", make_pressure),
    in_scrape("processes", make_processes, false),
    in_scrape("reboot", make_reboot),
    in_scrape("schedstat", make_schedstat),
    in_background("smart", make_smart, std::chrono::seconds(600), std::chrono::seconds(600)),
    in_scrape("sockstat", make_sockstat),
    in_scrape("softnet", make_softnet),
    in_scrape("stat", make_stat),
    in_background("systemd", make_systemd, std::chrono::seconds(60), std::chrono::seconds(35)),
    in_scrape("tcpstat", make_tcpstat, false),
    in_scrape("textfile", make_textfile),
    in_scrape("thermal_zone", make_thermal_zone),
    in_scrape("time", make_time),
    in_scrape("timex", make_timex),
    in_scrape("udp_queues", make_udp_queues),
    in_scrape("uname", make_uname),
    in_scrape("vmstat", make_vmstat),
    in_scrape("zfs", make_zfs),
};

}  // namespace

std::span<const CollectorKind> collector_kinds() { return kKinds; }

const CollectorKind* find_collector(std::string_view name) {
  for (const CollectorKind& kind : kKinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace vagt::agent

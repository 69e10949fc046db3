// Every collector's factory and the settings they take. The list itself is in collector_list.cpp.
#pragma once

#include <memory>
#include <string>

#include "node-agent/collector.h"
#include "node-agent/sources.h"

namespace vagt::agent {

// node_exporter's filter flags, compiled.
struct Filters {
  NameFilter disk_devices, net_devices, netclass_devices, arp_devices, hwmon_chips;
  NameFilter mount_points, filesystem_types, netstat_fields, vmstat_fields, power_supplies;
  bool cpu_guest = true;
  Duration mount_timeout = std::chrono::seconds(5);
  std::string textfile_directory;
  bool gpu_gpm = false, gpu_pcie_throughput = false;
  bool gpu_jobs = false, gpu_aliases = false;           // --gpu.jobs, --gpu.compat=nvidia_smi
  bool gpu_xid_labels = false, gpu_xid_window = false;  // as dcgm-exporter has them
  std::string gpu_hostname_label = "Hostname";
  std::optional<double> gpus_expected;      // unset: all that were seen since boot
  std::vector<std::string> ipmi_arguments;  // for ipmitool: another BMC than this host's own
  std::optional<double> psus_expected, psus_required;
  NameFilter systemd_units, ethtool_devices, ethtool_metrics;
  std::string ntp_server = "127.0.0.1:123";
  std::string systemctl = "systemctl", journalctl = "journalctl";
  std::string smartctl = "smartctl", lldpctl = "lldpctl";
  std::map<std::string, double> link_speeds;  // Mbit/s a link should have, by interface
  std::string docker_socket = "/var/run/docker.sock";
  std::string podman_socket = "/run/podman/podman.sock";
  size_t per_cpu_max = 128;  // above: softnet and schedstat are summed, cpufreq is off
};

using CollectorPtr = std::unique_ptr<Collector>;
using MakeCollector = CollectorPtr(const Sources& sources, const Filters& filters);

MakeCollector make_arp, make_bonding, make_conntrack, make_cpu, make_cpufreq, make_diskstats;
MakeCollector make_dmi, make_edac, make_entropy, make_filefd, make_filesystem, make_hwmon;
MakeCollector make_infiniband, make_interrupts, make_kernel, make_loadavg, make_mdadm;
MakeCollector make_meminfo, make_netclass, make_netdev, make_netstat, make_nvme, make_os, make_pci;
MakeCollector make_powersupply, make_pressure, make_processes, make_schedstat, make_sockstat;
MakeCollector make_softnet, make_stat, make_textfile, make_thermal_zone, make_time, make_timex;
MakeCollector make_udp_queues, make_uname, make_vmstat, make_vulnerabilities, make_zfs;
MakeCollector make_gpu, make_kernel_log, make_ipmi, make_smart, make_containers, make_reboot;
MakeCollector make_driver_readiness, make_systemd, make_tcpstat, make_ntp, make_ethtool;
MakeCollector make_links;

}  // namespace vagt::agent

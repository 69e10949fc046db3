#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/arguments.h"
#include "base/version.h"
#include "node-agent/collector_list.h"
#include "node-agent/options.h"

namespace vagt::agent {
namespace {

// Texts of the filter flags; node_exporter's defaults, and zram besides.
struct FilterTexts {
  std::string disk_include, disk_exclude = R"(^(z?ram|loop|fd|(h|s|v|xv)d[a-z]|nvme\d+n\d+p)\d+$)";
  std::string net_include, net_exclude;
  std::string netclass_ignored = "^$";
  std::string arp_include, arp_exclude;
  std::string hwmon_include, hwmon_exclude;
  std::string power_ignored = "^$";
  std::string mounts_include, mounts_exclude =
                                  "^/(dev|proc|run/credentials/.+|sys|var/lib/docker/.+|var/lib/"
                                  "containers/storage/.+)($|/)";
  std::string types_include,
      types_exclude =
          "^(autofs|binfmt_misc|bpf|cgroup2?|configfs|debugfs|devpts|devtmpfs|fusectl|hugetlbfs|"
          "iso9660|mqueue|nsfs|overlay|proc|procfs|pstore|rpc_pipefs|securityfs|selinuxfs|squashfs|"
          "erofs|sysfs|tracefs)$";
  std::string netstat_fields =
      "^(.*_(InErrors|InErrs)|Ip_Forwarding|Ip(6|Ext)_(InOctets|OutOctets)|"
      "Icmp6?_(InMsgs|OutMsgs)|TcpExt_(Listen.*|Syncookies.*|TCPSynRetrans|TCPTimeouts|"
      "TCPOFOQueue|TCPRcvQDrop)|Tcp_(ActiveOpens|InSegs|OutSegs|OutRsts|PassiveOpens|RetransSegs|"
      "CurrEstab)|Udp6?_(InDatagrams|OutDatagrams|NoPorts|RcvbufErrors|SndbufErrors))$";
  std::string vmstat_fields = "^(oom_kill|pgpg|pswp|pg.*fault).*";
};

struct Raw {
  FilterTexts filters;
  std::string ipmi_arguments, mount_timeout = "5s", log_level = "info", log_format = "logfmt";
  std::string reboot_ttl = "15m", gpu_compat, ipmi_config;
  std::string snapshot_every = "15s", snapshot_for = "0s";
  std::vector<std::string> compat, link_speeds;
  std::string systemd_include, systemd_exclude;
  std::string ethtool_include, ethtool_exclude, ethtool_metrics = ".*";
  bool disable_defaults = false, ignore_invalid_speed = false, disable_exporter_metrics = false;
  std::vector<std::string> listen;
  std::map<std::string, bool> switched;  // --collector.NAME, --no-collector.NAME
};

void add_text(CLI::App& app, const std::string& name, std::string& out, const std::string& help) {
  app.add_option(name, out, help)->allow_extra_args(false)->capture_default_str();
}

void add_filters(CLI::App& app, FilterTexts& f) {
  add_text(app, "--collector.diskstats.device-include", f.disk_include, "Disks to keep (regex)");
  add_text(app, "--collector.diskstats.device-exclude,--collector.diskstats.ignored-devices",
           f.disk_exclude, "Disks to leave out");
  add_text(app, "--collector.netdev.device-include", f.net_include, "Network devices to keep");
  add_text(app, "--collector.netdev.device-exclude", f.net_exclude, "Network devices to leave out");
  add_text(app, "--collector.netclass.ignored-devices", f.netclass_ignored,
           "Network devices netclass leaves out");
  add_text(app, "--collector.arp.device-include", f.arp_include, "Devices arp keeps");
  add_text(app, "--collector.arp.device-exclude", f.arp_exclude, "Devices arp leaves out");
  add_text(app, "--collector.hwmon.chip-include", f.hwmon_include, "Sensor chips to keep");
  add_text(app, "--collector.hwmon.chip-exclude", f.hwmon_exclude, "Sensor chips to leave out");
  add_text(app, "--collector.powersupply.ignored-supplies", f.power_ignored,
           "Power supplies to leave out");
  add_text(app, "--collector.filesystem.mount-points-include", f.mounts_include,
           "Mount points to keep");
  add_text(
      app,
      "--collector.filesystem.mount-points-exclude,--collector.filesystem.ignored-mount-points",
      f.mounts_exclude, "Mount points to leave out");
  add_text(app, "--collector.filesystem.fs-types-include", f.types_include,
           "File system types to keep");
  add_text(app, "--collector.filesystem.fs-types-exclude,--collector.filesystem.ignored-fs-types",
           f.types_exclude, "File system types to leave out");
  add_text(app, "--collector.netstat.fields", f.netstat_fields, "Fields of netstat to keep");
  add_text(app, "--collector.vmstat.fields", f.vmstat_fields, "Fields of vmstat to keep");
}

void add_sources(CLI::App& app, Sources& s) {
  add_text(app, "--path.procfs", s.procfs, "Where proc is mounted");
  add_text(app, "--path.sysfs", s.sysfs, "Where sysfs is mounted");
  add_text(app, "--path.rootfs", s.rootfs, "Where the root file system is mounted");
  add_text(app, "--path.udev.data", s.udev_data, "udev's database");
  add_text(app, "--path.state", s.state_dir, "Directory of the agent's state");
  add_text(app, "--gpu.nvml-library", s.nvml_library, "NVML to open (libnvidia-ml.so.1)");
  add_text(app, "--fixture.statfs", s.fixtures.statfs, "Recorded statfs answers");
  add_text(app, "--fixture.uname", s.fixtures.uname, "Recorded uname answer");
  add_text(app, "--fixture.adjtimex", s.fixtures.adjtimex, "Recorded adjtimex answer");
  add_text(app, "--fixture.mtimes", s.fixtures.mtimes, "Recorded modification times");
  add_text(app, "--fixture.hostname", s.fixtures.hostname, "Host name for the GPU labels");
  add_text(app, "--fixture.nvidia-smi", s.fixtures.nvidia_smi,
           "Recorded nvidia-smi answer: FILE.xml (-q -x) or FILE.csv (--query-gpu)");
  app.add_option("--fixture.nvlink", s.fixtures.nvlink,
                 "Recorded `nvidia-smi nvlink -s` and `-e`; repeat, or separate by commas")
      ->allow_extra_args(false)
      ->delimiter(',');
  add_text(app, "--fixture.ipmi", s.fixtures.ipmi, "Directory of recorded BMC answers");
  add_text(app, "--fixture.smartctl", s.fixtures.smartctl,
           "Recorded `smartctl --json`: FILE or DIR");
  add_text(app, "--fixture.nvme", s.fixtures.nvme, "Recorded `nvme ocp smart-add-log -o json`");
  add_text(app, "--fixture.docker", s.fixtures.docker, "Recorded `docker inspect`: FILE or DIR");
  add_text(app, "--fixture.ethtool", s.fixtures.ethtool,
           "Recorded statistics of network drivers: DEVICE<TAB>STATISTIC<TAB>value lines");
  add_text(app, "--fixture.kmsg", s.fixtures.kmsg,
           "Recorded kernel log: /dev/kmsg records or dmesg");
}

void add_collectors(CLI::App& app, std::map<std::string, bool>& switched) {
  for (const CollectorKind& kind : collector_kinds()) {
    const std::string name(kind.name);
    const std::string state = kind.on_by_default ? " (on by default)" : " (off by default)";
    app.add_flag_callback(
        "--collector." + name, [&switched, name] { switched[name] = true; },
        "Switch the " + name + " collector on" + state);
    app.add_flag_callback(
        "--no-collector." + name, [&switched, name] { switched[name] = false; },
        "Switch the " + name + " collector off");
  }
}

Status take_filters(const Raw& raw, Filters& out) {
  const FilterTexts& f = raw.filters;
  VAGT_TRY(out.disk_devices, NameFilter::make(f.disk_include, f.disk_exclude));
  VAGT_TRY(out.net_devices, NameFilter::make(f.net_include, f.net_exclude));
  VAGT_TRY(out.netclass_devices, NameFilter::make("", f.netclass_ignored));
  VAGT_TRY(out.arp_devices, NameFilter::make(f.arp_include, f.arp_exclude));
  VAGT_TRY(out.hwmon_chips, NameFilter::make(f.hwmon_include, f.hwmon_exclude));
  VAGT_TRY(out.power_supplies, NameFilter::make("", f.power_ignored));
  VAGT_TRY(out.mount_points, NameFilter::make(f.mounts_include, f.mounts_exclude));
  VAGT_TRY(out.filesystem_types, NameFilter::make(f.types_include, f.types_exclude));
  VAGT_TRY(out.netstat_fields, NameFilter::make(f.netstat_fields, ""));
  VAGT_TRY(out.vmstat_fields, NameFilter::make(f.vmstat_fields, ""));
  VAGT_TRY(out.systemd_units, NameFilter::make(raw.systemd_include, raw.systemd_exclude));
  VAGT_TRY(out.ethtool_devices, NameFilter::make(raw.ethtool_include, raw.ethtool_exclude));
  VAGT_TRY(out.ethtool_metrics, NameFilter::make(raw.ethtool_metrics, ""));
  for (const std::string& text : raw.link_speeds) {
    const size_t equals = text.find('=');
    const auto megabits =
        to_number(std::string_view(text).substr(std::min(equals + 1, text.size())));
    if (equals == 0 || equals == std::string::npos || !megabits || !(*megabits > 0))
      return Status::invalid("--collector.links.speed: not DEVICE=MBITS: " + text);
    out.link_speeds[text.substr(0, equals)] = *megabits;
  }
  VAGT_TRY(out.mount_timeout, parse_duration(raw.mount_timeout));
  return {};
}

// The collectors that stand in for an exporter, by its usual port.
std::vector<std::string> collectors_of_port(std::string_view port,
                                            const std::vector<std::string>& on) {
  std::vector<std::string> wanted;
  if (port == "9400") wanted = {"gpu", "kernel_log"};
  if (port == "9290") wanted = {"ipmi"};
  if (port == "9633") wanted = {"smart"};
  const std::vector<std::string> not_node = {"containers", "driver_readiness", "gpu",  "ipmi",
                                             "kernel_log", "reboot",           "smart"};
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  std::vector<std::string> chosen;
  for (const std::string& name : on)
    if (port == "9100" ? !has(not_node, name) : has(wanted, name)) chosen.push_back(name);
  return chosen;
}

// `9400`, `:9400`, `127.0.0.1:9400` or `gpu,kernel_log@127.0.0.1:9400`.
Status take_compat(const std::string& text, Options& options) {
  Options::CompatListen out;
  const size_t at = text.find('@');
  out.address = at == std::string::npos ? text : text.substr(at + 1);
  if (to_uint(out.address)) out.address.insert(0, ":");
  std::string_view names = std::string_view(text).substr(0, at == std::string::npos ? 0 : at);
  while (!names.empty()) {
    const size_t comma = names.find(',');
    out.collectors.emplace_back(names.substr(0, comma));
    if (find_collector(out.collectors.back()) == nullptr)
      return Status::invalid("--compat.listen: no such collector: " + out.collectors.back());
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
  }
  if (at == std::string::npos)
    out.collectors =
        collectors_of_port(out.address.substr(out.address.rfind(':') + 1), options.collectors);
  if (out.collectors.empty())
    return Status::invalid("--compat.listen=" + text + ": no collector of that port is on");
  options.compat_listen.push_back(std::move(out));
  return {};
}

Status finish(const Raw& raw, Options& options) {
  VAGT_TRY(options.log_level, base::parse_log_level(raw.log_level));
  if (raw.log_format != "logfmt" && raw.log_format != "json")
    return Status::invalid("--log.format must be logfmt or json, not " + raw.log_format);
  options.log_format = raw.log_format == "json" ? base::LogFormat::Json : base::LogFormat::Logfmt;
  if (!raw.listen.empty()) options.listen = raw.listen;
  std::string_view rest = raw.ipmi_arguments;
  for (auto word = next_word(rest); !word.empty(); word = next_word(rest))
    options.filters.ipmi_arguments.emplace_back(word);
  if (!raw.gpu_compat.empty() && raw.gpu_compat != "nvidia_smi")
    return Status::invalid("--gpu.compat must be nvidia_smi, not " + raw.gpu_compat);
  options.filters.gpu_aliases = !raw.gpu_compat.empty();
  const std::string& label = options.filters.gpu_hostname_label;
  if (label != "Hostname" && label != "hostname")
    return Status::invalid("--gpu.hostname-label must be Hostname or hostname, not " + label);
  options.exporter_metrics = !raw.disable_exporter_metrics;
  options.sources.once = options.collect_once || (options.snapshot && raw.snapshot_for == "0s");
  for (const CollectorKind& kind : collector_kinds()) {
    const auto said = raw.switched.find(std::string(kind.name));
    const bool on =
        said != raw.switched.end() ? said->second : kind.on_by_default && !raw.disable_defaults;
    if (on) options.collectors.emplace_back(kind.name);
  }
  for (const std::string& compat : raw.compat) VAGT_CHECK_OK(take_compat(compat, options));
  if (!raw.ipmi_config.empty()) {
    VAGT_TRY(options.bmc_modules, load_bmc_modules(raw.ipmi_config));
  }
  VAGT_TRY(options.snapshot_every, parse_duration(raw.snapshot_every));
  VAGT_TRY(options.snapshot_for, parse_duration(raw.snapshot_for));
  if (options.snapshot_every <= Duration(0)) return Status::invalid("--every must be above 0");
  VAGT_TRY(options.reboot_ttl, parse_duration(raw.reboot_ttl));
  return take_filters(raw, options.filters);
}

}  // namespace

bool parse_flags(int argc, const char* const* argv, Options& options, Exit& exit) {
  Raw raw;
  CLI::App app("vagt-agent: one /metrics page for a GPU host", "vagt-agent");
  app.fallthrough();
  app.set_version_flag("--version", version_text("vagt-agent"));
  app.add_option("--web.listen-address", raw.listen, "Address to serve on; repeatable (:9500)")
      ->allow_extra_args(false);
  app.add_flag("--web.disable-exporter-metrics", raw.disable_exporter_metrics,
               "Leave out process_* and the agent's own metrics");
  app.add_flag("--collector.disable-defaults", raw.disable_defaults,
               "Only the collectors that are switched on by name");
  app.add_flag("--collector.cpu.guest,!--no-collector.cpu.guest", options.filters.cpu_guest,
               "node_cpu_guest_seconds_total (on)");
  app.add_flag("--collector.netclass.ignore-invalid-speed", raw.ignore_invalid_speed,
               "Accepted for node_exporter's sake: an unknown speed is never exported");
  add_text(app, "--collector.filesystem.mount-timeout", raw.mount_timeout,
           "How long statfs may take");
  add_text(app, "--collector.textfile.directory", options.filters.textfile_directory,
           "Directory of *.prom files to add to the page");
  add_text(app, "--collector.ipmi.arguments", raw.ipmi_arguments,
           "Arguments of ipmitool for another BMC: '-I lanplus -H bmc -U user -f file'");
  add_text(app, "--ipmi.config", raw.ipmi_config,
           "File of [MODULE]s for /ipmi?target=HOST&module=NAME: user, password_file, interface, "
           "privilege, cipher_suite, psus_expected, psus_required");
  app.add_option("--collector.ipmi.psus-expected", options.filters.psus_expected,
                 "Power supplies this server should have (default: the most ever seen)");
  app.add_option("--collector.ipmi.psus-required", options.filters.psus_required,
                 "Power supplies it needs at full load");
  add_text(app, "--collector.smart.smartctl", options.filters.smartctl, "smartctl to run");
  add_text(app, "--collector.containers.docker-socket", options.filters.docker_socket,
           "Docker's socket");
  add_text(app, "--collector.containers.podman-socket", options.filters.podman_socket,
           "Podman's socket");
  app.add_flag("--gpu.gpm", options.filters.gpu_gpm,
               "DCGM_FI_PROF_* ratios of Hopper and later (sampling costs a little)");
  app.add_flag("--gpu.pcie-throughput", options.filters.gpu_pcie_throughput,
               "PCIe throughput (each reading takes 40 ms per GPU)");
  app.add_flag("--gpu.jobs", options.filters.gpu_jobs,
               "vagt_gpu_job_*: GPU processes by user, unit, container, Slurm job and pod");
  app.add_flag("--gpu.xid-labels", options.filters.gpu_xid_labels,
               "err_code and err_msg on DCGM_FI_DEV_XID_ERRORS, as newer dcgm-exporters have them");
  app.add_flag("--gpu.xid-count", options.filters.gpu_xid_window,
               "DCGM_EXP_XID_ERRORS_COUNT: XID errors of the last 5 min");
  add_text(app, "--gpu.hostname-label", options.filters.gpu_hostname_label,
           "Label with the host's name on DCGM_*: Hostname (dcgm-exporter 3) or hostname (4)");
  add_text(app, "--gpu.compat", raw.gpu_compat,
           "nvidia_smi: the names of nvidia_gpu_exporter besides");
  app.add_option("--gpu.expected", options.filters.gpus_expected,
                 "GPUs this server should have (default: all that were seen since boot)");
  add_text(app, "--collector.systemd.unit-include", raw.systemd_include,
           "Units whose state is shown; failed ones always are");
  add_text(app, "--collector.systemd.unit-exclude", raw.systemd_exclude,
           "Units that are never shown");
  add_text(app, "--collector.ethtool.device-include", raw.ethtool_include, "Devices to ask");
  add_text(app, "--collector.ethtool.device-exclude", raw.ethtool_exclude, "Devices not to ask");
  add_text(app, "--collector.ethtool.metrics-include", raw.ethtool_metrics,
           "Statistics of the ethtool collector to keep");
  app.add_option("--collector.links.speed", raw.link_speeds,
                 "DEVICE=MBITS a link should have, such as ens1=400000; repeatable")
      ->allow_extra_args(false);
  add_text(app, "--collector.ntp.server", options.filters.ntp_server, "NTP server to compare with");
  add_text(app, "--log.level", raw.log_level, "debug, info, warn or error");
  add_text(app, "--log.format", raw.log_format, "logfmt or json");
  add_filters(app, raw.filters);
  add_sources(app, options.sources);
  add_collectors(app, raw.switched);
  app.add_option("--compat.listen", raw.compat,
                 "Serve some collectors on their exporter's port too: 9100, 9400, 9290, 9633, or "
                 "COLLECTOR[,COLLECTOR]@ADDRESS; repeatable")
      ->allow_extra_args(false);
  CLI::App* snapshot = app.add_subcommand(
      "snapshot", "Print pages with their times, to be imported by a server out of reach");
  add_text(*snapshot, "--every", raw.snapshot_every, "Time between two pages");
  add_text(*snapshot, "--for", raw.snapshot_for, "How long to go on; 0s: one page");
  CLI::App* collect = app.add_subcommand("collect", "Print the page once and exit");
  CLI::App* doctor =
      app.add_subcommand("doctor", "Say whether the GPU driver survives a reboot, and what to do");
  CLI::App* mark = app.add_subcommand("mark-reboot", "Announce a reboot, so that it pages nobody");
  CLI::App* reboot = app.add_subcommand("reboot", "mark-reboot, then systemctl reboot");
  for (CLI::App* command : {mark, reboot}) {
    add_text(*command, "--reason", options.reboot_reason, "Why");
    add_text(*command, "--ttl", raw.reboot_ttl, "How long the announcement holds");
  }
  std::vector<std::string> words = base::with_empty_values({argv + 1, argv + argc});
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    std::ostringstream out, err;
    exit.code = app.exit(e, out, err) == 0 ? 0 : 1;
    exit.out = out.str();
    exit.err = err.str();
    return false;
  }
  options.collect_once = collect->parsed();
  options.snapshot = snapshot->parsed();
  options.doctor = doctor->parsed();
  options.reboot = reboot->parsed();
  options.mark_reboot = mark->parsed() || options.reboot;
  if (const Status status = finish(raw, options); !status.ok()) {
    exit = {1, "", fmt::format("vagt-agent: {}\n", status.message())};
    return false;
  }
  return true;
}

}  // namespace vagt::agent

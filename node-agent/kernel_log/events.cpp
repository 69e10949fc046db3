// Which lines of the kernel log count, and for which device. Substrings first: nearly every line
// matches none, and the table must keep up with a storm.
#include <array>

#include "node-agent/kernel_log/record.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

constexpr std::array<std::string_view, 32> kKinds = {"ata_reset",
                                                     "bond_slave_down",
                                                     "conntrack_full",
                                                     "disk_io_error",
                                                     "fs_error",
                                                     "hard_lockup",
                                                     "hung_task",
                                                     "kernel_oops",
                                                     "kernel_panic",
                                                     "link_down",
                                                     "link_up",
                                                     "mce_corrected",
                                                     "mce_uncorrected",
                                                     "md_failed",
                                                     "mlx5_health",
                                                     "nfs_timeout",
                                                     "nvidia_gpu_lost",
                                                     "nvidia_init_failed",
                                                     "nvidia_nvswitch_sxid",
                                                     "nvidia_probe_failed",
                                                     "nvidia_rm_mismatch",
                                                     "nvidia_xid",
                                                     "nvme_dead",
                                                     "nvme_reset",
                                                     "oom_kill",
                                                     "pcie_aer_corrected",
                                                     "pcie_aer_uncorrected",
                                                     "pcie_link_down",
                                                     "rcu_stall",
                                                     "segfault",
                                                     "soft_lockup",
                                                     "thermal_throttle"};

using Text = std::string_view;
using Device = std::string;

bool has(Text text, Text part) { return text.find(part) != Text::npos; }
bool begins(Text text, Text start) { return text.substr(0, start.size()) == start; }

// What stands between `before` and the first of `ends` after it; "" when `before` is not there.
Device between(Text text, Text before, Text ends) {
  const size_t at = text.find(before);
  if (at == Text::npos) return {};
  const Text rest = text.substr(at + before.size());
  return Device(rest.substr(0, rest.find_first_of(ends)));
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// The first PCI address in the text, with its function: "0000:43:00" is "0000:43:00.0".
Device pci_address(Text text) {
  constexpr Text kShape = "hhhh:hh:hh";
  for (size_t at = 0; at + kShape.size() <= text.size(); ++at) {
    bool fits = at == 0 || !is_hex(text[at - 1]);
    for (size_t i = 0; fits && i < kShape.size(); ++i)
      fits = kShape[i] == 'h' ? is_hex(text[at + i]) : text[at + i] == kShape[i];
    if (!fits) continue;
    const size_t end = at + kShape.size();
    const bool function = end + 1 < text.size() && text[end] == '.' && is_hex(text[end + 1]);
    return Device(text.substr(at, kShape.size())) +
           (function ? Device(text.substr(end, 2)) : Device(".0"));
  }
  return {};
}

// The word that ends in ':' before `phrase`: "mlx5_core 0000:1c:00.0 ens10np0: Link down".
Device word_before(Text text, Text phrase) {
  const size_t at = text.find(phrase);
  if (at == Text::npos || at == 0) return {};
  const Text head = text.substr(0, at);
  const size_t blank = head.find_last_of(' ');
  return Device(head.substr(blank == Text::npos ? 0 : blank + 1));
}

Device first_word(Text text, Text ends) { return Device(text.substr(0, text.find_first_of(ends))); }

std::optional<KernelEvent> nvidia_event(Text text) {
  if (has(text, "NVRM: Xid (")) {
    if (const auto xid = parse_xid(text)) return KernelEvent{"nvidia_xid", xid->pci_bus_id};
    return std::nullopt;  // "see also NVRM: Xid documentation"
  }
  if (has(text, "fallen off the bus") && (begins(text, "NVRM: GPU") || has(text, "NVIDIA GPU")))
    return KernelEvent{"nvidia_gpu_lost", pci_address(text)};
  if (begins(text, "nvidia-nvswitch"))
    if (const auto sxid = parse_sxid(text))
      return KernelEvent{"nvidia_nvswitch_sxid", sxid->pci_bus_id};
  if (has(text, "NVRM: API mismatch")) return KernelEvent{"nvidia_rm_mismatch", {}};
  if (has(text, "RmInitAdapter failed") || has(text, "rm_init_adapter failed"))
    return KernelEvent{"nvidia_init_failed", pci_address(text)};
  if (has(text, "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid") ||
      (has(text, "nvidia: probe of ") && has(text, "failed")))
    return KernelEvent{"nvidia_probe_failed", pci_address(text)};
  return std::nullopt;
}

std::optional<KernelEvent> memory_event(Text text) {
  if (has(text, "ut of memory: Kill")) {
    // Not a line that only quotes one: the phrase stands at the beginning.
    if (!begins(text, "Out of memory: Kill") && !begins(text, "Memory cgroup out of memory: Kill"))
      return std::nullopt;
    return KernelEvent{"oom_kill", between(text, "(", ")")};
  }
  if (has(text, "temperature above threshold") || has(text, "cpu clock throttled"))
    return KernelEvent{"thermal_throttle", between(text, "mce: ", ":")};
  if (begins(text, "EDAC MC")) {
    const bool uncorrected = has(text, " UE ");
    if (uncorrected || has(text, " CE "))
      return KernelEvent{uncorrected ? "mce_uncorrected" : "mce_corrected",
                         between(text, " on ", " ")};
  }
  if (begins(text, "Memory failure: 0x"))
    return KernelEvent{"mce_uncorrected", between(text, "Memory failure: ", ":")};
  if (has(text, "[Hardware Error]") || begins(text, "Machine Check")) {
    const bool head = begins(text, "mce: [Hardware Error]") || begins(text, "Machine Check") ||
                      has(text, "severity: ");
    if (!head) return std::nullopt;
    const bool fatal = has(text, "severity: fatal") || has(text, "severity: recoverable");
    return KernelEvent{fatal ? "mce_uncorrected" : "mce_corrected", {}};
  }
  return std::nullopt;
}

std::optional<KernelEvent> link_event(Text text) {
  if (has(text, "pciehp: Slot("))
    if (has(text, "Link Down") || has(text, "Card not present"))
      return KernelEvent{"pcie_link_down", "Slot(" + between(text, "pciehp: Slot(", ")") + ")"};
  if (has(text, "link status definitely down"))
    return KernelEvent{"bond_slave_down", between(text, "(slave ", ")")};
  if (has(text, "now running without any active interface"))
    return KernelEvent{"bond_slave_down", first_word(text, ":")};
  constexpr Text kDown[] = {": NIC Link is Down", ": Link is down", ": Link down", ": Link is Down",
                            ": link is not ready"};
  constexpr Text kUp[] = {": NIC Link is Up", ": Link is up", ": Link up", ": Link is Up"};
  for (const Text phrase : kDown)
    if (has(text, phrase)) return KernelEvent{"link_down", word_before(text, phrase)};
  for (const Text phrase : kUp)
    if (has(text, phrase)) return KernelEvent{"link_up", word_before(text, phrase)};
  if (begins(text, "mlx5_core ") &&
      (has(text, "health compromised") || has(text, "ealth issue observed") ||
       has(text, "firmware internal error") || has(text, "insufficient power")))
    return KernelEvent{"mlx5_health", pci_address(text)};
  // One error prints a line of the root port and one of the device: the second has the severity.
  if (has(text, "severity=Corrected")) return KernelEvent{"pcie_aer_corrected", pci_address(text)};
  if (has(text, "severity=Uncorrected"))
    return KernelEvent{"pcie_aer_uncorrected", pci_address(text)};
  return std::nullopt;
}

bool is_removable(Text device) {
  return begins(device, "sr") || begins(device, "loop") || begins(device, "fd");
}

std::optional<KernelEvent> storage_event(Text text) {
  if (begins(text, "nvme nvme")) {
    const Device device = between(text, "nvme ", ":");
    if (has(text, "Disabling device after reset failure") ||
        has(text, "Removing after probe failure"))
      return KernelEvent{"nvme_dead", device};
    if ((has(text, "timeout, aborting") || has(text, "timeout, reset controller")) ||
        has(text, "controller is down; will reset") || has(text, "resetting controller"))
      return KernelEvent{"nvme_reset", device};
  }
  if (has(text, "I/O error") || has(text, "Medium Error") || has(text, "blk_update_request: ")) {
    Device device = between(text, "error, dev ", ", ");
    if (device.empty()) device = between(text, "Buffer I/O error on dev ", ", ");
    if (device.empty() && has(text, "Medium Error")) device = between(text, "[", "]");
    if (!device.empty() && !is_removable(device)) return KernelEvent{"disk_io_error", device};
  }
  if (begins(text, "ata") && (has(text, "exception Emask") || has(text, "hard resetting link")))
    return KernelEvent{"ata_reset", first_word(text, ".:")};
  if (begins(text, "EXT4-fs error")) return KernelEvent{"fs_error", between(text, "(device ", ")")};
  if (has(text, "Remounting filesystem read-only") || begins(text, "BTRFS error"))
    return KernelEvent{"fs_error", has(text, "(device ") ? between(text, "(device ", ")")
                                                         : between(text, "(", ")")};
  if (begins(text, "XFS (") && (has(text, "Corruption") || has(text, "log I/O error")))
    return KernelEvent{"fs_error", between(text, "XFS (", ")")};
  if (begins(text, "md/raid") && has(text, "Disk failure on "))
    return KernelEvent{"md_failed", between(text, ":", ":")};
  if (begins(text, "nfs: server ") && has(text, "not responding"))
    return KernelEvent{"nfs_timeout", between(text, "nfs: server ", " ")};
  return std::nullopt;
}

// "INFO: task kworker/u128:3:91823 blocked …": the name may hold colons, the number may not.
Device hung_task_name(Text text) {
  const Device task = between(text, "INFO: task ", " ");
  return task.substr(0, task.rfind(':'));
}

std::optional<KernelEvent> kernel_event(Text text) {
  if (begins(text, "INFO: task ") && has(text, " blocked for more than "))
    return KernelEvent{"hung_task", hung_task_name(text)};
  if (has(text, "BUG: soft lockup"))
    return KernelEvent{"soft_lockup", "CPU#" + between(text, "CPU#", " ")};
  if (has(text, "hard LOCKUP")) return KernelEvent{"hard_lockup", between(text, "on ", " ")};
  if (begins(text, "rcu: INFO: ") && has(text, "self-detected stall"))
    return KernelEvent{"rcu_stall", {}};
  if (begins(text, "Kernel panic")) return KernelEvent{"kernel_panic", {}};
  if (has(text, "]: segfault at ")) return KernelEvent{"segfault", first_word(text, "[")};
  if (begins(text, "traps: ") && has(text, "general protection"))
    return KernelEvent{"segfault", between(text, "traps: ", "[")};
  if (begins(text, "BUG: unable to handle") || begins(text, "Oops:") ||
      begins(text, "general protection fault") || begins(text, "kernel BUG at"))
    return KernelEvent{"kernel_oops", {}};
  if (has(text, "nf_conntrack: table full, dropping packet"))
    return KernelEvent{"conntrack_full", {}};
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> kernel_event_kinds() { return kKinds; }

std::optional<KernelEvent> classify(std::string_view text) {
  if (begins(text, "audit: ")) return std::nullopt;  // quotes what programs say
  for (const auto& group : {nvidia_event, memory_event, link_event, storage_event, kernel_event})
    if (auto event = group(text)) return event;
  return std::nullopt;
}

std::optional<XidEvent> parse_xid(std::string_view text) {
  const size_t at = text.find("NVRM: Xid (");
  if (at == Text::npos) return std::nullopt;
  Text rest = text.substr(at + 11);
  XidEvent event;
  event.pci_bus_id = pci_address(rest.substr(0, rest.find(')')));
  const size_t colon = rest.find("): ");
  if (colon == Text::npos || event.pci_bus_id.empty()) return std::nullopt;
  rest.remove_prefix(colon + 3);
  const size_t comma = rest.find(',');
  const auto code = to_uint(rest.substr(0, comma));
  if (!code || *code > 9999) return std::nullopt;
  event.code = static_cast<int>(*code);
  rest = comma == Text::npos ? Text() : trim(rest.substr(comma + 1));
  if (begins(rest, "pid=")) {
    event.pid = between(rest, "pid=", ",");
    event.process = between(rest, "name=", ",");
    const size_t name = rest.find("name=");
    const size_t end = name == Text::npos ? Text::npos : rest.find(',', name);
    if (end != Text::npos) rest = trim(rest.substr(end + 1));
  }
  event.message = rest;
  return event;
}

std::optional<SxidEvent> parse_sxid(std::string_view text) {
  const size_t at = text.find("SXid (PCI:");
  if (at == Text::npos) return std::nullopt;
  SxidEvent event;
  Text rest = text.substr(at + 10);
  event.pci_bus_id = pci_address(rest.substr(0, rest.find(')')));
  const size_t colon = rest.find("): ");
  if (colon == Text::npos || event.pci_bus_id.empty()) return std::nullopt;
  rest.remove_prefix(colon + 3);
  const auto code = to_uint(rest.substr(0, rest.find(',')));
  if (!code) return std::nullopt;
  event.code = static_cast<int>(*code);
  event.fatal = has(rest, ", Fatal");
  return event;
}

std::string oom_cgroup(std::string_view text) {
  if (!begins(text, "oom-kill:")) return {};
  const Device path = between(text, "task_memcg=", ",");
  return path.substr(path.rfind('/') + 1);
}

}  // namespace vagt::agent

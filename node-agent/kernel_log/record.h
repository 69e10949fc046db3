// One record of the kernel log, and what kind of event it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace vagt::agent {

struct LogRecord {
  int priority = 6;  // 0-7
  int facility = 0;  // 0: the kernel; any program may write the others
  std::optional<uint64_t> sequence;
  Timestamp at{};
  std::string_view text;
};

// `<prio>,<seq>,<us since boot>,<flags>;<text>` of /dev/kmsg (one record per read, continuation
// lines below it are skipped). `boot` is when the clock stood at 0. nullopt: not a record.
std::optional<LogRecord> parse_kmsg(std::string_view record, Timestamp boot);
// A line of `dmesg --decode --time-format iso` or of `dmesg --time-format iso`.
std::optional<LogRecord> parse_dmesg(std::string_view line);

// Every kind that is counted, in name order.
std::span<const std::string_view> kernel_event_kinds();

struct KernelEvent {
  std::string_view kind;
  std::string device;  // "" when the line names none
};
// What the line reports; nullopt: nothing that is counted. For oom_kill of a memory cgroup the
// device is the process: the caller knows the cgroup from the line before.
std::optional<KernelEvent> classify(std::string_view text);

struct XidEvent {
  int code = 0;
  std::string pci_bus_id;  // "0000:43:00.0"
  std::string pid, process, message;
};
// `NVRM: Xid (PCI:0000:43:00): 13, pid=…, name=…, message`
std::optional<XidEvent> parse_xid(std::string_view text);

struct SxidEvent {
  int code = 0;
  std::string pci_bus_id;
  bool fatal = false;
};
// `nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 20034, Fatal, …`
std::optional<SxidEvent> parse_sxid(std::string_view text);

// The leaf of task_memcg= of an `oom-kill:` line; "" when there is none.
std::string oom_cgroup(std::string_view text);

// "page", "ticket" or "info" by NVIDIA's catalogue.
std::string_view xid_severity(int code);
// Codes of severity page and ticket: their counters begin at 0 for each GPU.
std::span<const int> serious_xids();

// At most 200 bytes at a character boundary, without control characters.
std::string clean_message(std::string_view text);

}  // namespace vagt::agent

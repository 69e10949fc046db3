// Where collectors read: roots that can be moved, and recorded answers in place of system calls.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/regex.h"
#include "base/status.h"
#include "base/time.h"
#include "node-agent/gpu/directory.h"
#include "node-agent/kernel_log/ring.h"
#include "node-agent/state_file.h"

namespace vagt::agent {

// Files that stand in for what is not a path; empty: ask the system.
struct Fixtures {
  std::string statfs, uname, adjtimex, mtimes, hostname;
  std::string nvidia_smi, kmsg, ipmi, smartctl, nvme, docker, ethtool;
  std::vector<std::string> nvlink;  // `nvlink -s` first, then `nvlink -e`
};

struct Sources {
  std::string procfs = "/proc", sysfs = "/sys", rootfs = "/";
  std::string udev_data = "/run/udev/data";
  std::string state_dir = "/var/lib/vagt";
  std::string nvml_library;  // "": libnvidia-ml.so.1
  Fixtures fixtures;
  std::shared_ptr<KernelLogRing> kernel_lines = std::make_shared<KernelLogRing>();
  std::shared_ptr<StateHealth> state = std::make_shared<StateHealth>();
  std::shared_ptr<GpuDirectory> gpus = std::make_shared<GpuDirectory>();
  bool once = false;  // `collect`: a result late is better than none
  const Clock* clock = nullptr;
  base::Logger log;

  std::string proc(std::string_view path) const { return join(procfs, path); }
  std::string sys(std::string_view path) const { return join(sysfs, path); }
  std::string root(std::string_view path) const { return join(rootfs, path); }
  static std::string join(std::string_view root, std::string_view path);
};

// Names to keep: matched by `include` when there is one, and not by `exclude`.
class NameFilter {
 public:
  NameFilter() = default;
  // Go's unanchored regexes; empty text: no such condition.
  static Result<NameFilter> make(const std::string& include, const std::string& exclude);
  bool keeps(std::string_view name) const;
  // Neither condition: keeps everything.
  bool is_empty() const { return include_ == nullptr && exclude_ == nullptr; }

 private:
  std::shared_ptr<const Regex> include_, exclude_;
};

// No file is read beyond this: what is larger is an error, not cut.
constexpr size_t kMaxFile = 16u << 20;

// A descriptor for reading a regular file; -1 with errno, EINVAL where it is something else. Never
// waits: a FIFO or a device in a file's place must not hold up a scrape.
int open_regular(const std::string& path);
// Whole file into `out` (which keeps its capacity). Io, NotFound: with path and reason; Io: not a
// regular file, or larger than kMaxFile.
Status read_file(const std::string& path, std::string& out);
// First line without surrounding blanks; nullopt: unreadable.
std::optional<std::string> read_line(const std::string& path);
// Decimal number that is all of the file; nullopt: unreadable or something else.
std::optional<double> read_number(const std::string& path);
// Names in a directory, sorted, without dot files, at most 200 000; empty when it cannot be read.
std::vector<std::string> list_directory(const std::string& path);
bool exists(const std::string& path);
// Last component of a symbolic link's target; "" when it is none.
std::string link_leaf(const std::string& path);

// Takes the next line (without its end) off `rest`; false at the end.
bool next_line(std::string_view& rest, std::string_view& line);
// Takes the next blank-separated word off `rest`; "" at the end.
std::string_view next_word(std::string_view& rest);
std::string_view trim(std::string_view text);
// Unsigned decimal, the fast way; nullopt: not only digits, or too large.
std::optional<uint64_t> to_uint(std::string_view text);
// Any float, as Prometheus spells it.
std::optional<double> to_number(std::string_view text);

// name<TAB>value lines of a fixture file.
Result<std::map<std::string, std::string>> read_pairs(const std::string& path);

}  // namespace vagt::agent

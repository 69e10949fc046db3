// process_*: what Go's client says about its own process, from /proc/self.
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/metrics.h"
#include "base/number_text.h"

namespace vagt::base {
namespace {

struct ProcessStat {
  double cpu_seconds = 0, virtual_bytes = 0, resident_bytes = 0;
};

// Fields of /proc/self/stat after the command, which may itself contain blanks and parentheses.
bool read_stat(ProcessStat& out) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  const size_t end_of_command = line.rfind(')');
  if (end_of_command == std::string::npos) return false;
  std::istringstream rest(line.substr(end_of_command + 1));
  std::vector<std::string> fields;
  for (std::string field; rest >> field;) fields.push_back(field);
  if (fields.size() < 22) return false;
  const auto number = [&fields](size_t i) { return parse_float(fields[i]).value_or(0); };
  // proc(5): utime is field 14, stime 15, vsize 23, rss 24; `state`, field 3, is our fields[0].
  out.cpu_seconds = (number(11) + number(12)) / static_cast<double>(sysconf(_SC_CLK_TCK));
  out.virtual_bytes = number(20);
  out.resident_bytes = number(21) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return true;
}

double count_open_files() {
  DIR* dir = opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  double n = -3;  // ".", ".." and the directory itself
  while (readdir(dir) != nullptr) ++n;
  closedir(dir);
  return n;
}

double limit_of(__rlimit_resource_t resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return 0;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

void register_process_metrics(Registry& registry, double start_time_seconds) {
  using Kind = Registry::Kind;
  const auto add = [&registry](Kind kind, std::string_view name, std::string_view help,
                               std::function<double()> read) {
    registry.keep(registry.callback(
        kind, name, help, [read = std::move(read)](const auto& emit) { emit(Labels(), read()); }));
  };
  const auto stat = [](double ProcessStat::*member) {
    return [member] {
      ProcessStat values;
      read_stat(values);
      return values.*member;
    };
  };
  add(Kind::Counter, "process_cpu_seconds_total",
      "Total user and system CPU time spent in seconds.", stat(&ProcessStat::cpu_seconds));
  add(Kind::Gauge, "process_max_fds", "Maximum number of open file descriptors.",
      [] { return limit_of(RLIMIT_NOFILE); });
  add(Kind::Gauge, "process_open_fds", "Number of open file descriptors.", count_open_files);
  add(Kind::Gauge, "process_resident_memory_bytes", "Resident memory size in bytes.",
      stat(&ProcessStat::resident_bytes));
  add(Kind::Gauge, "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      [start_time_seconds] { return start_time_seconds; });
  add(Kind::Gauge, "process_virtual_memory_bytes", "Virtual memory size in bytes.",
      stat(&ProcessStat::virtual_bytes));
  add(Kind::Gauge, "process_virtual_memory_max_bytes",
      "Maximum amount of virtual memory available in bytes.", [] { return limit_of(RLIMIT_AS); });
}

}  // namespace vagt::base

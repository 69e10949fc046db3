// Every in-scrape collector over a host whose /proc and /sys files hold the input: the first byte
// says which file, the rest is its text.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "node-agent/collector_list.h"

using namespace vagt;

namespace {

struct File {
  const char *path, *collector;
};
constexpr File kFiles[] = {{"proc/stat", "cpu"},
                           {"proc/stat", "stat"},
                           {"proc/meminfo", "meminfo"},
                           {"proc/diskstats", "diskstats"},
                           {"proc/mdstat", "mdadm"},
                           {"proc/vmstat", "vmstat"},
                           {"proc/loadavg", "loadavg"},
                           {"proc/schedstat", "schedstat"},
                           {"proc/net/dev", "netdev"},
                           {"proc/net/arp", "arp"},
                           {"proc/net/netstat", "netstat"},
                           {"proc/net/sockstat", "sockstat"},
                           {"proc/net/softnet_stat", "softnet"},
                           {"proc/net/udp", "udp_queues"},
                           {"proc/net/tcp", "tcpstat"},
                           {"proc/self/mountinfo", "filesystem"},
                           {"proc/interrupts", "interrupts"},
                           {"proc/sys/fs/file-nr", "filefd"},
                           {"proc/pressure/cpu", "pressure"},
                           {"etc/os-release", "os"},
                           {"text/a.prom", "textfile"}};

struct Host {
  std::filesystem::path root;
  SystemClock clock;
  agent::Sources sources;
  agent::Filters filters;

  Host() {
    char pattern[] = "/tmp/vagt-fuzz-XXXXXX";
    root = mkdtemp(pattern);
    for (const File& file : kFiles)
      std::filesystem::create_directories((root / file.path).parent_path());
    sources.procfs = (root / "proc").string();
    sources.sysfs = (root / "sys").string();
    sources.rootfs = root.string();
    sources.udev_data = (root / "udev").string();
    sources.state_dir = (root / "state").string();
    sources.clock = &clock;
    filters.textfile_directory = (root / "text").string();
  }
  ~Host() { std::filesystem::remove_all(root); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto host = std::make_unique<Host>();
  if (size == 0) return 0;
  const File& file = kFiles[data[0] % std::size(kFiles)];
  const std::filesystem::path path = host->root / file.path;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  const auto collector = agent::find_collector(file.collector)->make(host->sources, host->filters);
  agent::MetricSink sink;
  collector->collect(sink, {}).ignore("a refusal is an answer");
  for (const auto& [name, family] : sink.families())
    if (!family.lines().empty() &&
        (family.lines().back() != '\n' || family.lines().compare(0, name.size(), name) != 0))
      std::abort();
  std::filesystem::remove(path);
  return 0;
}

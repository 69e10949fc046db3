// Containers: starts, restarts, exit codes from Docker's or Podman's socket; CPU and memory of all
// runtimes from their cgroups.
#include <sys/stat.h>

#include <algorithm>

#include "node-agent/collectors/collectors.h"
#include "node-agent/containers/docker.h"

namespace vagt::agent {
namespace {

constexpr std::chrono::milliseconds kDeadline{3000};
constexpr size_t kMaxContainers = 500;
constexpr int kMaxDepth = 6;

// `docker-ID.scope`, `libpod-ID.scope`, `cri-containerd-ID.scope`.
std::string container_id(std::string_view directory) {
  for (const std::string_view prefix : {"docker-", "libpod-", "cri-containerd-", "crio-"}) {
    if (directory.substr(0, prefix.size()) != prefix) continue;
    std::string_view id = directory.substr(prefix.size());
    if (id.size() < 64 + 6 || id.substr(64) != ".scope") return {};
    id = id.substr(0, 64);
    if (id.find_first_not_of("0123456789abcdef") == std::string_view::npos) return std::string(id);
  }
  return {};
}

class ContainersCollector final : public Collector {
 public:
  ContainersCollector(const Sources& sources, const Filters& filters)
      : fixture_(sources.fixtures.docker),
        sockets_{{"docker", filters.docker_socket}, {"podman", filters.podman_socket}},
        cgroups_(sources.sys("fs/cgroup")),
        clock_(*sources.clock) {}
  std::string_view name() const override { return "containers"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    if (!fixture_.empty()) return collect_recorded(sink);
    Status worst = Status::not_found("no container runtime");
    for (const auto& [runtime, socket] : sockets_) {
      if (socket.empty() || !exists(socket)) continue;
      Status status = collect_socket(sink, runtime, socket, stop);
      if (!status.ok() || worst.code() == Code::NotFound) worst = std::move(status);
    }
    found_ = 0;
    scan_cgroups(sink, cgroups_, 0);
    return worst.code() == Code::NotFound && found_ > 0 ? Status() : worst;
  }

 private:
  // A file of `docker inspect`, or a directory with one.
  Status collect_recorded(MetricSink& sink) {
    std::string path = fixture_, text;
    for (const std::string& name : list_directory(fixture_))
      if (name.find("inspect-all") != std::string::npos) path = Sources::join(fixture_, name);
    VAGT_CHECK_OK(read_file(path, text));
    return write_containers(sink, text, "docker").at(path);
  }

  Status collect_socket(MetricSink& sink, const std::string& runtime, const std::string& socket,
                        const std::stop_token& stop) {
    VAGT_TRY(const std::string list,
             get_over_unix_socket(socket, "/containers/json?all=1", kDeadline));
    VAGT_TRY(const std::vector<std::string> ids, parse_container_list(list));
    sink.gauge("vagt_container_last_seen_timestamp_seconds", "When the runtime last answered.")
        .add({{"runtime", runtime}}, to_seconds(clock_.now()));
    for (size_t i = 0; i < std::min(ids.size(), kMaxContainers) && !stop.stop_requested(); ++i) {
      const auto one = get_over_unix_socket(socket, "/containers/" + ids[i] + "/json", kDeadline);
      if (!one && one.error().code() == Code::Timeout) return one.error();
      // One that is gone by now is no failure.
      if (one) VAGT_CHECK_OK(write_containers(sink, *one, runtime));
    }
    return {};
  }

  void scan_cgroups(MetricSink& sink, const std::string& path, int depth) {
    if (depth > kMaxDepth || found_ >= kMaxContainers) return;
    for (const std::string& entry : list_directory(path)) {
      const std::string child = path + '/' + entry, id = container_id(entry);
      struct stat info {};
      if (!id.empty()) {
        add_cgroup(sink, child, id);
      } else if (stat(child.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
        scan_cgroups(sink, child, depth + 1);
      }
    }
  }

  void add_cgroup(MetricSink& sink, const std::string& path, const std::string& id) {
    ++found_;
    if (const auto bytes = read_number(path + "/memory.current"))
      sink.gauge("container_memory_usage_bytes",
                 "Current memory usage in bytes, including all memory regardless of when it was "
                 "accessed")
          .add({{"id", id}}, *bytes);
    if (!read_file(path + "/cpu.stat", text_).ok()) return;
    std::string_view rest = text_, line;
    while (next_line(rest, line))
      if (next_word(line) == "usage_usec")
        if (const auto microseconds = to_number(next_word(line)))
          sink.counter("container_cpu_usage_seconds_total",
                       "Cumulative cpu time consumed in seconds.")
              .add({{"id", id}}, *microseconds / 1e6);
  }

  const std::string fixture_;
  const std::vector<std::pair<std::string, std::string>> sockets_;
  const std::string cgroups_;
  const Clock& clock_;
  std::string text_;
  size_t found_ = 0;
};

}  // namespace

CollectorPtr make_containers(const Sources& sources, const Filters& filters) {
  return std::make_unique<ContainersCollector>(sources, filters);
}

}  // namespace vagt::agent

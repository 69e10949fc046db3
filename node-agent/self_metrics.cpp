#include "node-agent/self_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/version.h"

namespace vagt::agent {
namespace {

double count_open_files() {
  // Since Linux 6.2 the size of the directory is the answer.
  struct stat info {};
  if (stat("/proc/self/fd", &info) == 0 && info.st_size > 0)
    return static_cast<double>(info.st_size);
  DIR* dir = opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  double n = -3;  // ".", ".." and the directory itself
  while (readdir(dir) != nullptr) ++n;
  closedir(dir);
  return n;
}

double boot_time() {
  std::string text;
  if (!read_file("/proc/stat", text).ok()) return 0;
  const size_t at = text.find("\nbtime ");
  if (at == std::string::npos) return 0;
  std::string_view rest = std::string_view(text).substr(at + 7);
  return to_number(next_word(rest)).value_or(0);
}

double limit_of(__rlimit_resource_t resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " + std::to_string(__clang_major__);
#else
  return "g++ " + std::to_string(__GNUC__);
#endif
}

}  // namespace

SelfMetrics::SelfMetrics(const Options& options)
    : exporter_metrics_(options.exporter_metrics),
      compat_build_info_(options.compat_build_info),
      can_read_kmsg_(access("/dev/kmsg", R_OK) == 0),
      state_dir_(options.sources.state_dir),
      state_(options.sources.state),
      sink_(std::make_shared<MetricSink>()) {}

void SelfMetrics::count_request(int status) {
  base::MutexLock lock(mutex_);
  ++requests_[status];
}

std::shared_ptr<const MetricSink> SelfMetrics::collect(const std::vector<CollectorRunner*>& runners,
                                                       size_t samples, size_t last_page_bytes,
                                                       bool whole) {
  sink_->reset();
  add_runs(runners);
  if (!whole || !exporter_metrics_) return sink_;
  add_process();
  add_builds();
  sink_->gauge("vagt_scrape_series", "Samples of the collectors on this page.")
      .add(static_cast<double>(samples));
  sink_->gauge("vagt_scrape_size_bytes", "Size of the last whole page.")
      .add(static_cast<double>(last_page_bytes));
  Family& capability =
      sink_->gauge("vagt_capability", "What the agent is allowed to do (1) or not (0).");
  capability.add({{"capability", "dev_kmsg"}}, can_read_kmsg_ ? 1 : 0);
  capability.add({{"capability", "root"}}, geteuid() == 0 ? 1 : 0);
  const bool keeps = state_->good() && access(state_dir_.c_str(), W_OK | X_OK) == 0;
  capability.add({{"capability", "state_dir"}}, keeps ? 1 : 0);
  sink_->counter("vagt_state_write_errors_total", "Times that the agent's state was not kept.")
      .add(static_cast<double>(state_->failures()));
  Family& requests = sink_->counter("vagt_http_requests_total", "HTTP answers by status code.");
  base::MutexLock lock(mutex_);
  for (const auto& [code, count] : requests_)
    requests.add({{"code", std::to_string(code)}}, static_cast<double>(count));
  return sink_;
}

void SelfMetrics::add_runs(const std::vector<CollectorRunner*>& runners) {
  Family& node_success = sink_->gauge("node_scrape_collector_success",
                                      "node_exporter: Whether a collector succeeded.");
  Family& node_duration = sink_->gauge("node_scrape_collector_duration_seconds",
                                       "node_exporter: Duration of a collector scrape.");
  Family& success = sink_->gauge("vagt_collector_success", "Whether the last run was good.");
  Family& duration = sink_->gauge("vagt_collector_duration_seconds", "How long the last run took.");
  Family& last_success = sink_->gauge("vagt_collector_last_success_timestamp_seconds",
                                      "When a run was good the last time.");
  Family& errors =
      sink_->counter("vagt_collector_errors_total", "Failed runs of a collector by reason.");
  Family& cached =
      sink_->gauge("vagt_collector_cached", "1: the samples are those of an earlier run.");
  Family& dropped = sink_->counter("vagt_series_dropped_total",
                                   "Samples left out because a collector had too many.");
  for (const CollectorRunner* runner : runners) {
    const RunReport report = runner->report();
    const LabelView label[] = {{"collector", runner->name()}};
    node_success.add(label, report.success ? 1 : 0);
    node_duration.add(label, report.duration_seconds);
    success.add(label, report.success ? 1 : 0);
    duration.add(label, report.duration_seconds);
    if (report.last_success) last_success.add(label, to_seconds(*report.last_success));
    for (const auto& [reason, count] : report.errors)
      errors.add({{"collector", runner->name()}, {"reason", reason}}, static_cast<double>(count));
    if (!runner->in_scrape()) cached.add(label, report.cached ? 1 : 0);
    if (report.dropped_samples > 0) dropped.add(label, static_cast<double>(report.dropped_samples));
  }
}

void SelfMetrics::add_process() {
  if (!stat_.read(text_).ok()) return;
  std::string_view rest = std::string_view(text_).substr(std::min(text_.rfind(')'), text_.size()));
  // proc(5): field 2 ends here; utime is field 14, stime 15, starttime 22, vsize 23, rss 24.
  std::array<double, 25> field{};
  next_word(rest);
  for (size_t i = 3; i < field.size(); ++i) field[i] = to_number(next_word(rest)).value_or(0);
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  static const double kBootTime = boot_time();
  sink_->counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")
      .add((field[14] + field[15]) / ticks);
  sink_
      ->gauge("process_start_time_seconds",
              "Start time of the process since unix epoch in seconds.")
      .add(kBootTime + field[22] / ticks);
  sink_->gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.").add(field[23]);
  sink_->gauge("process_resident_memory_bytes", "Resident memory size in bytes.")
      .add(field[24] * static_cast<double>(sysconf(_SC_PAGESIZE)));
  sink_
      ->gauge("process_virtual_memory_max_bytes",
              "Maximum amount of virtual memory available in bytes.")
      .add(limit_of(RLIMIT_AS));
  sink_->gauge("process_max_fds", "Maximum number of open file descriptors.")
      .add(limit_of(RLIMIT_NOFILE));
  sink_->gauge("process_open_fds", "Number of open file descriptors.").add(count_open_files());
}

void SelfMetrics::add_builds() {
  sink_->gauge("vagt_build_info", "Version of the agent; the value is 1.")
      .add({{"compiler", compiler()}, {"revision", ""}, {"version", kVersion}}, 1);
  if (compat_build_info_)
    sink_
        ->gauge("node_exporter_build_info",
                "A metric with a constant '1' value, for dashboards that look for it.")
        .add({{"branch", ""},
              {"goarch", ""},
              {"goos", "linux"},
              {"goversion", ""},
              {"revision", ""},
              {"tags", ""},
              {"version", "vagt-" + std::string(kVersion)}},
             1);
}

}  // namespace vagt::agent

// What the agent says of itself and of its collectors' runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "node-agent/collector_runner.h"
#include "node-agent/kept_file.h"
#include "node-agent/options.h"

namespace vagt::agent {

class SelfMetrics {
 public:
  explicit SelfMetrics(const Options& options);
  // The page's own part. `whole`: with process_*, build and HTTP metrics. One thread at a time;
  // valid until the next call.
  std::shared_ptr<const MetricSink> collect(const std::vector<CollectorRunner*>& runners,
                                            size_t samples, size_t last_page_bytes, bool whole);
  void count_request(int status) VAGT_EXCLUDES(mutex_);

 private:
  void add_runs(const std::vector<CollectorRunner*>& runners);
  void add_process();
  void add_builds();

  const bool exporter_metrics_, compat_build_info_;
  const bool can_read_kmsg_;
  const std::string state_dir_;
  const std::shared_ptr<StateHealth> state_;
  std::shared_ptr<MetricSink> sink_;
  KeptFile stat_{"/proc/self/stat"};
  std::string text_;
  base::Mutex mutex_;
  std::map<int, uint64_t> requests_ VAGT_GUARDED_BY(mutex_);
};

}  // namespace vagt::agent

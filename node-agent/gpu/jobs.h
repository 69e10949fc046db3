// Whose processes hold the GPUs: user, unit, container, Slurm job, Kubernetes pod.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "node-agent/gpu/reading.h"
#include "node-agent/sources.h"

namespace vagt::agent {

struct GpuJob {
  std::string user, unit, container, slurm_job, pod;
  auto operator<=>(const GpuJob&) const = default;
};
// What a line of /proc/PID/cgroup, or all of them, say; `user` stays empty.
GpuJob parse_job_cgroup(std::string_view text);

class GpuJobs {
 public:
  explicit GpuJobs(const Sources& sources);
  // Processes and framebuffer by GPU and job. At most 64 jobs of a host have labels of their own;
  // the others are added up under user "other".
  void write(MetricSink& sink, const std::vector<GpuReading>& gpus);

 private:
  GpuJob job_of(unsigned pid);
  std::string user_name(uint64_t uid);

  const Sources sources_;
  std::map<uint64_t, std::string> users_;
  std::string text_;
};

}  // namespace vagt::agent

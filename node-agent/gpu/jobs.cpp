#include "node-agent/gpu/jobs.h"

namespace vagt::agent {
namespace {

constexpr size_t kMaxJobs = 64, kMaxUsers = 1000, kShortId = 12;

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// `docker-ID.scope`, `cri-containerd-ID.scope`, or the bare ID of cgroup v1.
void take_container(std::string_view part, GpuJob& job) {
  if (ends_with(part, ".scope")) part.remove_suffix(6);
  const std::string_view id = part.substr(part.rfind('-') + 1);  // npos + 1 is 0
  if (id.size() == 64 && is_hex(id)) job.container = id.substr(0, kShortId);
}

// `kubepods-burstable-podUID.slice`, or `podUID` of cgroup v1.
void take_pod(std::string_view part, GpuJob& job) {
  const bool slice = ends_with(part, ".slice");
  if (slice) part.remove_suffix(6);
  const size_t at = part.rfind(slice ? "-pod" : "pod");
  if (at == std::string_view::npos || (!slice && at != 0)) return;
  if (slice && part.substr(0, 8) != "kubepods") return;
  std::string uid(part.substr(at + (slice ? 4 : 3)));
  for (char& c : uid)
    if (c == '_') c = '-';
  if (uid.size() == 36) job.pod = uid;
}

}  // namespace

GpuJob parse_job_cgroup(std::string_view text) {
  GpuJob job;
  std::string_view line;
  while (next_line(text, line)) {
    // `0::/system.slice/ssh.service`
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    line.remove_prefix(second + 1);
    while (!line.empty()) {
      const size_t slash = line.find('/');
      const std::string_view part = line.substr(0, slash);
      line.remove_prefix(slash == std::string_view::npos ? line.size() : slash + 1);
      if (part.substr(0, 4) == "job_" && to_uint(part.substr(4))) job.slurm_job = part.substr(4);
      if (ends_with(part, ".service")) job.unit = part;
      take_pod(part, job);
      take_container(part, job);
    }
  }
  return job;
}

GpuJobs::GpuJobs(const Sources& sources) : sources_(sources) {}

std::string GpuJobs::user_name(uint64_t uid) {
  const auto known = users_.find(uid);
  if (known != users_.end()) return known->second;
  std::string name = std::to_string(uid);
  // Not getpwuid(): it may ask a directory server, and wait for it.
  if (read_file(sources_.root("etc/passwd"), text_).ok()) {
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      const size_t first = line.find(':'), second = line.find(':', first + 1);
      if (first == std::string_view::npos || second == std::string_view::npos) continue;
      const std::string_view id = line.substr(second + 1, line.find(':', second + 1) - second - 1);
      if (to_uint(id) == uid) {
        name = line.substr(0, first);
        break;
      }
    }
  }
  if (users_.size() < kMaxUsers) users_[uid] = name;
  return name;
}

GpuJob GpuJobs::job_of(unsigned pid) {
  const std::string directory = sources_.proc(std::to_string(pid));
  GpuJob job;
  if (read_file(directory + "/cgroup", text_).ok()) job = parse_job_cgroup(text_);
  if (!read_file(directory + "/status", text_).ok()) return job;
  std::string_view rest = text_, line;
  while (next_line(rest, line))
    if (next_word(line) == "Uid:") {
      if (const auto uid = to_uint(next_word(line))) job.user = user_name(*uid);
      break;  // user_name() reads into the same text
    }
  return job;
}

void GpuJobs::write(MetricSink& sink, const std::vector<GpuReading>& gpus) {
  struct Held {
    double processes = 0;
    std::optional<double> bytes;
  };
  std::map<GpuJob, std::map<const GpuReading*, Held>> held;
  for (const GpuReading& gpu : gpus)
    for (const GpuProcess& process : gpu.process_list) {
      GpuJob job = job_of(process.pid);
      if (held.size() >= kMaxJobs && held.find(job) == held.end())
        job = GpuJob{"other", {}, {}, {}, {}};
      Held& sum = held[job][&gpu];
      ++sum.processes;
      if (process.used_bytes) sum.bytes = sum.bytes.value_or(0) + *process.used_bytes;
    }
  for (const auto& [job, by_gpu] : held)
    for (const auto& [gpu, sum] : by_gpu) {
      const LabelView labels[] = {{"UUID", gpu->uuid}, {"container", job.container},
                                  {"gpu", gpu->index}, {"pci_bus_id", gpu->pci_bus_id},
                                  {"pod", job.pod},    {"slurm_job", job.slurm_job},
                                  {"unit", job.unit},  {"user", job.user}};
      sink.gauge("vagt_gpu_job_processes", "Processes on a GPU by whom they belong to.")
          .add(labels, sum.processes);
      if (sum.bytes)
        sink.gauge("vagt_gpu_job_memory_bytes", "GPU memory in use by whom it belongs to.")
            .add(labels, *sum.bytes);
    }
}

}  // namespace vagt::agent

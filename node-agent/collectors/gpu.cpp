// GPUs: presence, health and DCGM's families.
#include <unistd.h>

#include <algorithm>

#include "node-agent/collectors/collectors.h"
#include "node-agent/command.h"
#include "node-agent/gpu/jobs.h"
#include "node-agent/gpu/known_gpus.h"
#include "node-agent/gpu/nvml_source.h"
#include "node-agent/gpu/smi.h"

namespace vagt::agent {
namespace {

constexpr auto kSmiDeadline = std::chrono::seconds(15);
constexpr unsigned kSmiRounds = 6;  // of ten seconds each

std::string host_name(const Fixtures& fixtures) {
  if (!fixtures.hostname.empty()) {
    // The name itself, or a file with it.
    if (const auto line = read_line(fixtures.hostname)) return *line;
    return fixtures.hostname;
  }
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

class GpuCollector final : public Collector {
 public:
  GpuCollector(const Sources& sources, const Filters& filters)
      : fixtures_(sources.fixtures),
        host_{filters.gpu_hostname_label, host_name(sources.fixtures)},
        expected_(filters.gpus_expected),
        clock_(*sources.clock),
        nvml_(nvml_options(sources, filters)),
        directory_(sources.gpus),
        known_(sources),
        aliases_(filters.gpu_aliases),
        jobs_(filters.gpu_jobs ? std::make_unique<GpuJobs>(sources) : nullptr) {}
  std::string_view name() const override { return "gpu"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    if (const Timestamp until = directory_->released_until(); until > clock_.now())
      return stand_back(sink, until);
    const bool recorded = !fixtures_.nvidia_smi.empty() || !fixtures_.nvlink.empty();
    Result<GpuSnapshot> taken = recorded ? read_recorded() : read_live(stop);
    add_cost(sink);
    if (aliases_) add_alias_outcome(sink, taken.ok());
    if (!taken) {
      if (mismatch_)
        sink.gauge("vagt_gpu_driver_mismatch",
                   "1: user-space and kernel driver differ, no CUDA program can start.")
            .add(1);
      // Under a mismatch the GPUs are well, and work on: nobody may ask them, that is all.
      if (!mismatch_) known_.write_missing(sink, {}, expected_);
      return std::move(taken).error();
    }
    if (!recorded) known_.see(taken->gpus);
    for (GpuReading& gpu : taken->gpus) gpu.health = known_.health(gpu, clock_.now());
    write_gpus(sink, *taken, host_);
    if (aliases_) write_smi_aliases(sink, *taken);
    if (jobs_ != nullptr) jobs_->write(sink, taken->gpus);
    if (!recorded) known_.write_missing(sink, taken->gpus, expected_);
    return {};
  }

 private:
  // Someone reloads the driver or resets a GPU: no handle of ours may be open.
  Status stand_back(MetricSink& sink, Timestamp until) {
    nvml_.release();
    smi_.reset();
    sink.gauge("vagt_gpu_released_until_seconds", "Until then the agent does not touch the driver.")
        .add(to_seconds(until));
    return {};
  }

  void add_alias_outcome(MetricSink& sink, bool good) {
    failures_ += good ? 0 : 1;
    sink.gauge("nvidia_smi_last_collect_success", "Whether the last reading was good.")
        .add(good ? 1 : 0);
    sink.counter("nvidia_smi_failed_scrapes_total", "Readings that failed.")
        .add(static_cast<double>(failures_));
  }

  static NvmlSource::Options nvml_options(const Sources& sources, const Filters& filters) {
    NvmlSource::Options options;
    if (!sources.nvml_library.empty()) options.library = sources.nvml_library;
    options.gpm = filters.gpu_gpm;
    options.processes = filters.gpu_jobs;
    options.pcie_throughput = filters.gpu_pcie_throughput;
    return options;
  }

  // nvidia-smi costs seconds of CPU, and is asked every minute only, where NVML is not.
  Result<GpuSnapshot> read_live(const std::stop_token& stop) {
    auto snapshot = nvml_.read();
    mismatch_ = nvml_.driver_mismatch();
    if (snapshot || snapshot.error().code() != Code::NotFound) return snapshot;
    if (smi_round_++ % kSmiRounds != 0 && smi_) return *smi_;
    snapshot = run_smi(stop);
    smi_ = snapshot ? std::optional(*snapshot) : std::nullopt;
    return snapshot;
  }

  Result<GpuSnapshot> read_recorded() {
    GpuSnapshot snapshot;
    std::string text;
    if (!fixtures_.nvidia_smi.empty()) {
      VAGT_CHECK_OK(read_file(fixtures_.nvidia_smi, text));
      VAGT_TRY(snapshot, (ends_with(fixtures_.nvidia_smi, ".xml") ? parse_smi_xml(text)
                                                                  : parse_smi_csv(text)));
    }
    for (const std::string& path : fixtures_.nvlink) {
      VAGT_CHECK_OK(read_file(path, text));
      read_nvlink_status(text, snapshot);
      read_nvlink_errors(text, snapshot);
    }
    return snapshot;
  }

  Result<GpuSnapshot> run_smi(const std::stop_token& stop) {
    VAGT_TRY(CommandOutput output, run({"nvidia-smi", "-q", "-x"}, stop));
    mismatch_ = output.out.find("Driver/library version mismatch") != std::string::npos;
    if (output.exit_code == 6) return Status::not_found("nvidia-smi: no devices were found");
    auto snapshot = parse_smi_xml(output.out);
    if (!snapshot) {
      const std::string first(trim(std::string_view(output.out).substr(0, output.out.find('\n'))));
      return Status(Code::Unavailable,
                    "nvidia-smi exited with " + std::to_string(output.exit_code) + ": " + first);
    }
    if (auto status = run({"nvidia-smi", "nvlink", "-s"}, stop); status && status->exit_code == 0)
      read_nvlink_status(status->out, *snapshot);
    const bool linked = std::any_of(snapshot->gpus.begin(), snapshot->gpus.end(),
                                    [](const GpuReading& gpu) { return !gpu.nvlinks.empty(); });
    if (linked)
      if (auto errors = run({"nvidia-smi", "nvlink", "-e"}, stop); errors && errors->exit_code == 0)
        read_nvlink_errors(errors->out, *snapshot);
    return snapshot;
  }

  Result<CommandOutput> run(const std::vector<std::string>& argv, const std::stop_token& stop) {
    auto output = run_command(argv, kSmiDeadline, stop);
    if (output) cpu_seconds_ += output->cpu_seconds;
    return output;
  }

  void add_cost(MetricSink& sink) const {
    if (cpu_seconds_ > 0)
      sink.counter("vagt_external_command_seconds_total", "CPU time of the programs we run.")
          .add({{"command", "nvidia-smi"}}, cpu_seconds_);
  }

  const Fixtures fixtures_;
  const HostLabel host_;
  const std::optional<double> expected_;
  const Clock& clock_;
  NvmlSource nvml_;
  std::optional<GpuSnapshot> smi_;  // what nvidia-smi last said
  unsigned smi_round_ = 0;
  const std::shared_ptr<GpuDirectory> directory_;
  KnownGpus known_;
  const bool aliases_;
  const std::unique_ptr<GpuJobs> jobs_;
  uint64_t failures_ = 0;
  double cpu_seconds_ = 0;
  bool mismatch_ = false;
};

}  // namespace

CollectorPtr make_gpu(const Sources& sources, const Filters& filters) {
  return std::make_unique<GpuCollector>(sources, filters);
}

}  // namespace vagt::agent

// XID errors, OOM kills and other events from /dev/kmsg, counted over agent restarts.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "node-agent/collectors/collectors.h"
#include "node-agent/command.h"
#include "node-agent/kernel_log/counters.h"
#include "node-agent/kernel_log/journal.h"
#include "node-agent/kernel_log/ring.h"
#include "node-agent/state_file.h"

namespace vagt::agent {
namespace {

constexpr Duration kSaveEvery = std::chrono::seconds(60);
constexpr int kMaxRecordsPerRun = 200'000;

// When CLOCK_MONOTONIC, which stamps the records, stood at 0.
Timestamp boot_time(const Clock& clock) {
  timespec monotonic{};
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  return clock.now() - std::chrono::seconds(monotonic.tv_sec) -
         std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(monotonic.tv_nsec));
}

class KernelLogCollector final : public Collector {
 public:
  KernelLogCollector(const Sources& sources, const Filters& filters)
      : fixture_(sources.fixtures.kmsg),
        pci_(sources.sys("bus/pci/devices")),
        boot_id_path_(sources.proc("sys/kernel/random/boot_id")),
        state_path_(sources.once ? "" : Sources::join(sources.state_dir, "kernel_log.state")),
        state_(sources.state),
        log_(sources.log.with_component("state")),
        gpu_directory_(sources.gpus),
        lines_(sources.kernel_lines),
        journalctl_(filters.journalctl),
        dcgm_{filters.gpu_xid_labels, filters.gpu_xid_window},
        clock_(*sources.clock) {
    counters_.set_dcgm(dcgm_);
  }
  ~KernelLogCollector() override {
    if (loaded_) save();
    if (fd_ >= 0) close(fd_);
  }
  std::string_view name() const override { return "kernel_log"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    if (fixture_.empty()) {
      load_once();
      counters_.know_gpus(find_gpus());
      VAGT_CHECK_OK(drain(stop));
      counters_.settle(clock_.now());
    } else {
      VAGT_CHECK_OK(read_recorded());
    }
    counters_.write(sink, *gpu_directory_);
    if (clock_.now() - saved_ >= kSaveEvery) save();
    return {};
  }

 private:
  // Both forms, told apart line by line; records' own times, so settled by their own clock.
  Status read_recorded() {
    std::string text;
    VAGT_CHECK_OK(read_file(fixture_, text));
    counters_ = KernelLogCounters();
    counters_.set_dcgm(dcgm_);
    counters_.know_gpus(find_gpus());
    std::string_view rest = text, line;
    Timestamp last{};
    while (next_line(rest, line)) {
      if (line.empty() || line[0] == ' ') continue;
      auto record = parse_kmsg(line, Timestamp{});
      if (!record) record = parse_dmesg(line);
      if (!record) continue;
      counters_.add(*record);
      last = record->at;
    }
    // On their own clock where they are newer than ours.
    counters_.settle(clock_.now() >= last ? clock_.now() : last + std::chrono::hours(1));
    return {};
  }

  Status drain(const std::stop_token& stop) {
    if (fd_ < 0) fd_ = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0) return read_journal(errno, stop);
    const Timestamp boot = boot_time(clock_);
    char buffer[16384];
    for (int i = 0; i < kMaxRecordsPerRun && !stop.stop_requested(); ++i) {
      const ssize_t n = read(fd_, buffer, sizeof buffer);
      if (n < 0 && errno == EAGAIN) return {};
      if (n < 0 && (errno == EPIPE || errno == EINTR)) continue;  // overrun: the gap is counted
      if (n < 0) return Status::io(fmt::format("/dev/kmsg: {}", std::strerror(errno)));
      const auto record = parse_kmsg({buffer, static_cast<size_t>(n)}, boot);
      // After a restart the ring is read again from its beginning.
      if (!record) continue;
      lines_->add(*record->sequence, record->at, record->priority, record->text);
      if (*record->sequence >= counters_.next_sequence()) counters_.add(*record);
    }
    return {};
  }

  // Where /dev/kmsg may not be read: once a minute, since each question starts a program.
  Status read_journal(int error, const std::stop_token& stop) {
    if (journal_round_++ % 12 != 0) return {};
    std::vector<std::string> argv = {journalctl_, "--dmesg", "--boot",        "--quiet",
                                     "--output",  "export",  "--show-cursor", "--no-pager"};
    if (!cursor_.empty()) argv.push_back("--after-cursor=" + cursor_);
    const auto output = run_command(argv, std::chrono::seconds(4), stop);
    const std::string refused = fmt::format("/dev/kmsg: {}", std::strerror(error));
    if (!output) return Status(output.error().code(), refused + "; " + output.error().message());
    if (output->exit_code != 0)
      return Status(Code::Unavailable,
                    fmt::format("{}; {} exited with {}", refused, journalctl_, output->exit_code));
    JournalReader reader(output->out);
    for (auto record = reader.next(); record; record = reader.next()) {
      lines_->add(++journal_sequence_, record->at, record->priority, record->text);
      counters_.add(*record);
    }
    if (!reader.cursor().empty()) cursor_ = reader.cursor();
    return {};
  }

  std::set<std::string> find_gpus() {
    if (gpus_read_++ % 12 != 0) return gpus_;  // hot-plugged ones are found within a minute
    for (const std::string& device : list_directory(pci_)) {
      const std::string path = pci_ + '/' + device;
      const auto vendor = read_line(path + "/vendor"), kind = read_line(path + "/class");
      if (vendor == "0x10de" && kind && kind->compare(0, 4, "0x03") == 0) gpus_.insert(device);
    }
    return gpus_;
  }

  void load_once() {
    if (loaded_) return;
    loaded_ = true;
    boot_id_ = read_line(boot_id_path_).value_or(std::string());
    if (state_path_.empty()) return;
    // A new boot begins at 0 again.
    const std::string text = load_boot_state(state_path_, boot_id_);
    counters_.load(text);
    std::string_view rest = text, line;
    while (next_line(rest, line))
      if (line.substr(0, 7) == "cursor\t") cursor_ = line.substr(7);
  }

  void save() {
    saved_ = clock_.now();
    if (state_path_.empty()) return;
    std::string text = counters_.save();
    if (!cursor_.empty()) text += "cursor\t" + cursor_ + '\n';
    state_->note(save_boot_state(state_path_, boot_id_, text), log_);
  }

  const std::string fixture_, pci_, boot_id_path_, state_path_;
  const std::shared_ptr<StateHealth> state_;
  const base::Logger log_;
  const std::shared_ptr<GpuDirectory> gpu_directory_;
  const std::shared_ptr<KernelLogRing> lines_;
  const std::string journalctl_;
  const KernelLogCounters::DcgmOptions dcgm_;
  std::string cursor_;
  uint64_t journal_sequence_ = 0;
  unsigned journal_round_ = 0;
  const Clock& clock_;
  KernelLogCounters counters_;
  std::set<std::string> gpus_;
  std::string boot_id_;
  Timestamp saved_{};
  size_t gpus_read_ = 0;
  bool loaded_ = false;
  int fd_ = -1;
};

}  // namespace

CollectorPtr make_kernel_log(const Sources& sources, const Filters& filters) {
  return std::make_unique<KernelLogCollector>(sources, filters);
}

}  // namespace vagt::agent

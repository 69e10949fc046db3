// Counts of kernel-log events over the life of this boot.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>

#include "node-agent/collector.h"
#include "node-agent/gpu/directory.h"
#include "node-agent/kernel_log/record.h"

namespace vagt::agent {

class KernelLogCounters {
 public:
  // Takes one record, in the log's order. Records of other facilities than the kernel only count
  // as lines.
  void add(const LogRecord& record);
  // Records that were overwritten before we read them.
  void add_lost(uint64_t records) { lost_ += records; }
  // Settles what had to wait for a later record; `now` on the log's clock.
  void settle(Timestamp now);
  // GPUs whose serious XID counters are there from the start, by PCI address ("0000:43:00.0").
  void know_gpus(const std::set<std::string>& pci_bus_ids) { gpus_ = pci_bus_ids; }
  // As dcgm-exporter has them: the last code with its message as labels; XIDs of the last 5 min.
  struct DcgmOptions {
    bool xid_labels = false, xid_window = false;
  };
  void set_dcgm(DcgmOptions options) { dcgm_ = options; }
  // `gpus` names the GPU at an address, and is told of serious XIDs.
  void write(MetricSink& sink, GpuDirectory& gpus) const;

  // The sequence number after the last record; 0: none yet.
  uint64_t next_sequence() const { return next_sequence_; }

  // What an agent restart carries over: counters, not texts. One line each.
  std::string save() const;
  void load(std::string_view text);

 private:
  // One whose labels nobody could know before its first event. It stands at 0 for a moment, since
  // increase() does not see the step from nothing to 1.
  struct Count {
    uint64_t total = 0;
    Timestamp born{};
    double shown(Timestamp now) const;
  };
  struct Sxid {
    Count count;
    bool fatal = false;
  };
  struct Last {
    Timestamp at{};
    std::string device, message;
  };
  struct LastXid {
    Timestamp at{};
    XidEvent event;
  };
  void count_event(const KernelEvent& event, const LogRecord& record);
  void count_xid(const XidEvent& event, Timestamp at);
  void write_xids(MetricSink& sink, GpuDirectory& gpus) const;
  void write_window(MetricSink& sink, const GpuDirectory& gpus) const;
  void note_gpu_lost(const std::string& pci_bus_id, Timestamp at);

  std::map<std::string, uint64_t, std::less<>> kinds_;
  std::map<std::pair<std::string, std::string>, Count> by_device_;  // kind, device
  std::map<std::string, size_t> devices_of_kind_;
  std::map<std::string, Last> last_;                      // by kind
  std::map<std::pair<std::string, int>, uint64_t> xids_;  // GPU, code
  std::map<std::pair<std::string, int>, Timestamp> xid_at_;
  std::map<std::string, LastXid> last_xid_;            // by GPU
  std::map<std::pair<std::string, int>, Sxid> sxids_;  // switch, code
  std::map<std::string, Timestamp> lost_gpus_;         // seen off the bus, no XID 79 yet
  std::set<std::string> gpus_;
  DcgmOptions dcgm_;
  struct Recent {
    Timestamp at{};
    std::string gpu;
    int code = 0;
  };
  std::deque<Recent> recent_;  // of the window, oldest first
  uint64_t lines_[8] = {};
  uint64_t lost_ = 0, next_sequence_ = 0;
  Timestamp now_{};
  std::string cgroup_;  // of the last oom-kill line
};

}  // namespace vagt::agent

#include "node-agent/kernel_log/counters.h"

#include <charconv>

#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

constexpr int kOffTheBus = 79;
constexpr int kApplicationXids[] = {13, 31, 43};  // a storm of these is counted, too
constexpr auto kSettle = std::chrono::seconds(2);
constexpr auto kBirth = std::chrono::seconds(20);  // longer than between two scrapes
constexpr size_t kMaxDevices = 64;                 // of one kind; the rest is "other"
constexpr size_t kMaxXidSeries = 4096, kMaxRecent = 10'000;
constexpr auto kWindow = std::chrono::minutes(5);  // dcgm-exporter's

int to_int(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add_last_info(MetricSink& sink, const std::string& pci, const GpuDirectory::Identity& who,
                   const XidEvent& event) {
  // 144 to 150 say in their text how bad it is.
  const bool fatal =
      event.code >= 144 && event.code <= 150 && event.message.find("Fatal") != std::string::npos;
  Family& family =
      sink.gauge("vagt_gpu_xid_last_info", "The last XID error of a GPU; the value is 1.");
  const std::string message = clean_message(event.message), pid = clean_message(event.pid),
                    process = clean_message(event.process), xid = std::to_string(event.code);
  const LabelView labels[] = {{"UUID", who.uuid},
                              {"gpu", who.index},
                              {"message", message},
                              {"pci_bus_id", pci},
                              {"pid", pid},
                              {"process", process},
                              {"severity", fatal ? "page" : xid_severity(event.code)},
                              {"xid", xid}};
  family.add(std::span<const LabelView>(labels).subspan(who.uuid.empty() ? 2 : 0), 1);
}

}  // namespace

double KernelLogCounters::Count::shown(Timestamp now) const {
  return now - born < kBirth ? 0 : static_cast<double>(total);
}

void KernelLogCounters::add(const LogRecord& record) {
  if (record.sequence) {
    if (next_sequence_ != 0 && *record.sequence > next_sequence_)
      lost_ += *record.sequence - next_sequence_;
    next_sequence_ = *record.sequence + 1;
  }
  ++lines_[record.priority & 7];
  // Any root process may write with another facility.
  if (record.facility != 0) return;
  settle(record.at);
  if (record.text.substr(0, 9) == "oom-kill:") cgroup_ = oom_cgroup(record.text);
  auto event = classify(record.text);
  if (!event) return;
  if (event->kind == "oom_kill" && record.text.substr(0, 13) == "Memory cgroup" && !cgroup_.empty())
    event->device = cgroup_;
  if (event->kind == "oom_kill") cgroup_.clear();
  count_event(*event, record);
  if (event->kind == "nvidia_xid") count_xid(*parse_xid(record.text), record.at);
  if (event->kind == "nvidia_gpu_lost" && !event->device.empty())
    note_gpu_lost(event->device, record.at);
  if (event->kind == "nvidia_nvswitch_sxid") {
    const auto sxid = *parse_sxid(record.text);
    const auto [found, is_new] = sxids_.try_emplace({sxid.pci_bus_id, sxid.code});
    if (is_new) found->second.count.born = record.at;
    ++found->second.count.total;
    found->second.fatal = found->second.fatal || sxid.fatal;
  }
}

void KernelLogCounters::count_event(const KernelEvent& event, const LogRecord& record) {
  const std::string kind(event.kind);
  ++kinds_[kind];
  Last& last = last_[kind];
  last.at = record.at;
  last.device = event.device;
  last.message = clean_message(record.text);
  if (event.device.empty()) return;
  auto found = by_device_.find({kind, event.device});
  if (found == by_device_.end()) {
    const bool full = devices_of_kind_[kind] >= kMaxDevices;
    found =
        by_device_.try_emplace({kind, full ? "other" : event.device}, Count{0, record.at}).first;
    if (!full) ++devices_of_kind_[kind];
  }
  ++found->second.total;
}

void KernelLogCounters::count_xid(const XidEvent& event, Timestamp at) {
  if (recent_.size() >= kMaxRecent) recent_.pop_front();
  if (dcgm_.xid_window) recent_.push_back({at, event.pci_bus_id, event.code});
  if (xids_.size() < kMaxXidSeries) ++xids_[{event.pci_bus_id, event.code}];
  xid_at_[{event.pci_bus_id, event.code}] = at;
  last_xid_[event.pci_bus_id] = LastXid{at, event};
  if (event.code == kOffTheBus) lost_gpus_.erase(event.pci_bus_id);
}

// Newer drivers may say so without an XID: it counts as 79 unless that one stands beside it.
void KernelLogCounters::note_gpu_lost(const std::string& pci_bus_id, Timestamp at) {
  const auto before = xid_at_.find({pci_bus_id, kOffTheBus});
  if (before != xid_at_.end() && at - before->second <= kSettle) return;
  lost_gpus_.emplace(pci_bus_id, at);
}

void KernelLogCounters::settle(Timestamp now) {
  now_ = now;
  while (!recent_.empty() && now - recent_.front().at > kWindow) recent_.pop_front();
  for (auto entry = lost_gpus_.begin(); entry != lost_gpus_.end();) {
    if (now - entry->second <= kSettle) {
      ++entry;
      continue;
    }
    XidEvent event;
    event.code = kOffTheBus;
    event.pci_bus_id = entry->first;
    event.message = "GPU has fallen off the bus";
    const Timestamp at = entry->second;
    entry = lost_gpus_.erase(entry);
    count_xid(event, at);
  }
}

void KernelLogCounters::write(MetricSink& sink, GpuDirectory& gpus) const {
  Family& totals = sink.counter("vagt_kernel_events_total", "Events in the kernel log by kind.");
  for (const std::string_view kind : kernel_event_kinds()) {
    const auto found = kinds_.find(kind);
    totals.add({{"kind", kind}}, found == kinds_.end() ? 0 : static_cast<double>(found->second));
  }
  for (const auto& [key, count] : by_device_)
    sink.counter("vagt_kernel_events_by_device_total", "Events by kind and device.")
        .add({{"device", key.second}, {"kind", key.first}}, count.shown(now_));
  for (const auto& [kind, last] : last_) {
    sink.gauge("vagt_kernel_event_last_timestamp_seconds", "When the last event of a kind was.")
        .add({{"kind", kind}}, to_seconds(last.at));
    sink.gauge("vagt_kernel_event_last_info", "The last line of a kind; the value is 1.")
        .add({{"device", last.device}, {"kind", kind}, {"message", last.message}}, 1);
  }
  write_xids(sink, gpus);
  write_window(sink, gpus);
  for (const auto& [key, value] : sxids_)
    sink.counter("vagt_gpu_nvswitch_sxid_errors_total", "NVSwitch errors by switch and code.")
        .add({{"fatal", value.fatal ? "true" : "false"},
              {"pci_bus_id", key.first},
              {"sxid", std::to_string(key.second)}},
             value.count.shown(now_));
  for (int priority = 0; priority < 8; ++priority)
    sink.counter("vagt_kmsg_lines_total", "Records read from the kernel log by priority.")
        .add({{"priority", std::to_string(priority)}}, static_cast<double>(lines_[priority]));
  sink.counter("vagt_kmsg_lost_total", "Records overwritten before they were read.")
      .add(static_cast<double>(lost_));
}

void KernelLogCounters::write_xids(MetricSink& sink, GpuDirectory& gpus) const {
  std::map<std::string, GpuDirectory::Identity> identities;
  const auto identity = [&](const std::string& pci) -> const GpuDirectory::Identity& {
    const auto found = identities.find(pci);
    if (found != identities.end()) return found->second;
    return identities.emplace(pci, gpus.identity(pci).value_or(GpuDirectory::Identity()))
        .first->second;
  };
  const auto add = [&](Family& family, const std::string& pci, int code, double value) {
    const GpuDirectory::Identity& who = identity(pci);
    const std::string xid = std::to_string(code);
    if (who.uuid.empty()) return family.add({{"pci_bus_id", pci}, {"xid", xid}}, value);
    family.add({{"UUID", who.uuid}, {"gpu", who.index}, {"pci_bus_id", pci}, {"xid", xid}}, value);
  };
  Family& xids = sink.counter("vagt_gpu_xid_errors_total", "XID errors by GPU and code.");
  const auto begin_at_zero = [&](int code) {
    for (const std::string& gpu : gpus_)
      if (!xids_.contains({gpu, code})) add(xids, gpu, code, 0);
  };
  for (const int code : serious_xids()) begin_at_zero(code);
  for (const int code : kApplicationXids) begin_at_zero(code);
  for (const auto& [key, count] : xids_)
    add(xids, key.first, key.second, static_cast<double>(count));
  std::map<std::string, GpuDirectory::Xids> serious;
  for (const auto& [key, at] : xid_at_) {
    add(sink.gauge("vagt_gpu_xid_last_timestamp_seconds", "When a GPU last had an XID error."),
        key.first, key.second, to_seconds(at));
    const std::string_view severity = xid_severity(key.second);
    GpuDirectory::Xids& known = serious[key.first];
    if (severity == "page" && (!known.last_page || at > *known.last_page)) {
      known.last_page = at;
      known.last_page_code = key.second;
    }
    if (severity == "ticket" && (!known.last_ticket || at > *known.last_ticket))
      known.last_ticket = at;
  }
  for (const auto& [pci, known] : serious) gpus.set_xids(pci, known);
  Family& last_code =
      sink.gauge("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.");
  const auto add_code = [&](const std::string& pci, int code, const std::string& message) {
    const GpuDirectory::Identity& who = identity(pci);
    const std::string text = std::to_string(code);
    std::vector<LabelView> labels;
    if (!who.uuid.empty()) labels = {{"UUID", who.uuid}, {"gpu", who.index}};
    labels.push_back({"pci_bus_id", pci});
    if (dcgm_.xid_labels) {
      labels.push_back({"err_code", text});
      labels.push_back({"err_msg", message});
    }
    last_code.add(std::span<const LabelView>(labels), code);
  };
  for (const std::string& gpu : gpus_)
    if (!last_xid_.contains(gpu)) add_code(gpu, 0, "No Error");
  for (const auto& [gpu, last] : last_xid_) {
    add_code(gpu, last.event.code, clean_message(last.event.message));
    add_last_info(sink, gpu, identity(gpu), last.event);
  }
}

void KernelLogCounters::write_window(MetricSink& sink, const GpuDirectory& gpus) const {
  std::map<std::pair<std::string, int>, double> counts;
  for (const Recent& recent : recent_) ++counts[{recent.gpu, recent.code}];
  for (const auto& [key, count] : counts) {
    const auto who = gpus.identity(key.first).value_or(GpuDirectory::Identity());
    sink.gauge("DCGM_EXP_XID_ERRORS_COUNT", "XID errors of the last five minutes by code.")
        .add({{"UUID", who.uuid},
              {"gpu", who.index},
              {"pci_bus_id", key.first},
              {"window_size_in_ms", "300000"},
              {"xid", std::to_string(key.second)}},
             count);
  }
}

std::string KernelLogCounters::save() const {
  std::string out = "sequence\t" + std::to_string(next_sequence_) + '\n';
  out += "lost\t" + std::to_string(lost_) + '\n';
  for (int i = 0; i < 8; ++i)
    out += "lines\t" + std::to_string(i) + '\t' + std::to_string(lines_[i]) + '\n';
  for (const auto& [kind, count] : kinds_)
    out += "kind\t" + kind + '\t' + std::to_string(count) + '\n';
  for (const auto& [key, count] : by_device_)
    out += "device\t" + key.first + '\t' + key.second + '\t' + std::to_string(count.total) + '\n';
  for (const auto& [key, count] : xids_) {
    const auto at = xid_at_.find(key);
    out += "xid\t" + key.first + '\t' + std::to_string(key.second) + '\t' + std::to_string(count) +
           '\t' + std::to_string(at == xid_at_.end() ? 0 : to_millis(at->second)) + '\n';
  }
  for (const auto& [key, value] : sxids_)
    out += "sxid\t" + key.first + '\t' + std::to_string(key.second) + '\t' +
           std::to_string(value.count.total) + '\t' + (value.fatal ? "1" : "0") + '\n';
  return out;
}

void KernelLogCounters::load(std::string_view text) {
  std::string_view line;
  while (next_line(text, line)) {
    std::string_view field[5];
    for (std::string_view& f : field) {
      const size_t tab = line.find('\t');
      f = line.substr(0, tab);
      line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
    }
    const auto number = [&field](size_t i) { return to_uint(field[i]).value_or(0); };
    if (field[0] == "sequence") next_sequence_ = number(1);
    if (field[0] == "lost") lost_ = number(1);
    if (field[0] == "lines") lines_[number(1) & 7] = number(2);
    if (field[0] == "kind") kinds_[std::string(field[1])] = number(2);
    if (field[0] == "device") {
      by_device_[{std::string(field[1]), std::string(field[2])}].total = number(3);
      ++devices_of_kind_[std::string(field[1])];
    }
    if (field[0] == "xid") {
      const std::pair key(std::string(field[1]), to_int(field[2]));
      xids_[key] = number(3);
      xid_at_[key] = from_millis(static_cast<int64_t>(number(4)));
    }
    if (field[0] == "sxid")
      sxids_[{std::string(field[1]), to_int(field[2])}] =
          Sxid{Count{number(3), Timestamp{}}, field[4] == "1"};
  }
}

}  // namespace vagt::agent

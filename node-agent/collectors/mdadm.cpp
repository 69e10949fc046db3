// Software RAID, from /proc/mdstat and /sys/block/md*/md.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

struct Array {
  std::string name, state;
  double required = 0, active = 0, failed = 0, spare = 0, blocks = 0, blocks_synced = 0;
};

double count(std::string_view line, std::string_view mark) {
  double n = 0;
  for (size_t at = line.find(mark); at != std::string_view::npos; at = line.find(mark, at + 1)) ++n;
  return n;
}

// `[2/1]`: required and active members.
bool take_members(std::string_view line, Array& array) {
  for (size_t open = line.find('['); open != std::string_view::npos;
       open = line.find('[', open + 1)) {
    const size_t slash = line.find('/', open), close = line.find(']', open);
    if (slash == std::string_view::npos || close == std::string_view::npos || slash > close)
      continue;
    const auto required = to_uint(line.substr(open + 1, slash - open - 1));
    const auto active = to_uint(line.substr(slash + 1, close - slash - 1));
    if (!required || !active) continue;
    array.required = static_cast<double>(*required);
    array.active = static_cast<double>(*active);
    return true;
  }
  return false;
}

// `md6 : active raid1 sdb2[2](F) sdc[1](S) sda2[0]` and the line with the blocks below it.
Array parse_head(std::string_view head, std::string_view status) {
  Array array;
  array.name = next_word(head);
  next_word(head);  // ":"
  array.state = next_word(head);
  array.failed = count(head, "(F)");
  array.spare = count(head, "(S)");
  const double members = count(head, "[");
  array.blocks = to_number(next_word(status)).value_or(0);
  array.blocks_synced = array.blocks;
  if (array.state != "active") return array;
  // raid0 and linear have no [n/m]: they need every member.
  if (!take_members(status, array)) array.required = array.active = members;
  return array;
}

// `[=>...]  recovery =  8.5% (16775552/195310144) finish=...` or `resync=DELAYED`.
void take_sync(std::string_view line, Array& array) {
  if (line.find("recovery") != std::string_view::npos) {
    array.state = "recovering";
  } else if (line.find("resync") != std::string_view::npos) {
    array.state = "resync";
  } else if (line.find("check") != std::string_view::npos) {
    array.state = "check";
  } else {
    return;
  }
  array.blocks_synced = 0;  // delayed and pending ones have not begun
  const size_t open = line.find('('), slash = line.find('/', open);
  if (open == std::string_view::npos || slash == std::string_view::npos) return;
  array.blocks_synced = to_number(line.substr(open + 1, slash - open - 1)).value_or(0);
}

class MdadmCollector final : public Collector {
 public:
  explicit MdadmCollector(const Sources& sources)
      : mdstat_(sources.proc("mdstat")), block_(sources.sys("block")) {}
  std::string_view name() const override { return "mdadm"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    if (const Status status = mdstat_.read(text_); !status.ok())
      return status.code() == Code::NotFound ? Status::not_found("no software RAID") : status;
    add_mdstat(sink);
    if (text_.find("\nmd") != std::string::npos) add_sysfs(sink);
    return {};
  }

 private:
  void add_mdstat(MetricSink& sink) const {
    std::string_view rest = text_, line, status;
    std::optional<Array> array;
    while (next_line(rest, line)) {
      const bool head = line.substr(0, 2) == "md" && line.find(" : ") != std::string_view::npos;
      if (head || line.substr(0, 6) == "unused") {
        if (array) add(sink, *array);
        array.reset();
      }
      if (head && next_line(rest, status)) {
        array = parse_head(line, status);
      } else if (array) {
        take_sync(line, *array);
      }
    }
    if (array) add(sink, *array);
  }

  static void add(MetricSink& sink, const Array& array) {
    const LabelView device[] = {{"device", array.name}};
    Family& states = sink.gauge("node_md_state", "Indicates the state of md-device.");
    for (const std::string_view state : {"active", "check", "inactive", "recovering", "resync"})
      states.add({{"device", array.name}, {"state", state}}, array.state == state ? 1 : 0);
    Family& disks = sink.gauge("node_md_disks", "Number of active/failed/spare disks of device.");
    disks.add({{"device", array.name}, {"state", "active"}}, array.active);
    disks.add({{"device", array.name}, {"state", "failed"}}, array.failed);
    disks.add({{"device", array.name}, {"state", "spare"}}, array.spare);
    sink.gauge("node_md_disks_required", "Total number of disks of device.")
        .add(device, array.required);
    sink.gauge("node_md_blocks", "Total number of blocks on device.").add(device, array.blocks);
    sink.gauge("node_md_blocks_synced", "Number of blocks synced on device.")
        .add(device, array.blocks_synced);
  }

  void add_sysfs(MetricSink& sink) const {
    for (const std::string& device : list_directory(block_)) {
      if (device.compare(0, 2, "md") != 0) continue;
      const std::string path = block_ + '/' + device + "/md";
      const auto raid_disks = read_number(path + "/raid_disks");
      if (!raid_disks) continue;
      sink.gauge("node_md_raid_disks", "Number of raid disks on device.")
          .add({{"device", device}}, *raid_disks);
      // raid0 and linear have no such file, since they cannot run degraded.
      sink.gauge("node_md_degraded", "Number of degraded disks on device.")
          .add({{"device", device}}, read_number(path + "/degraded").value_or(0));
    }
  }

  KeptFile mdstat_;
  const std::string block_;
  std::string text_;
};

}  // namespace

CollectorPtr make_mdadm(const Sources& sources, const Filters&) {
  return std::make_unique<MdadmCollector>(sources);
}

}  // namespace vagt::agent

// /proc/diskstats, and what udev knows of each disk.
#include <array>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

struct Column {
  std::string_view name, type, help;
  double factor;
};
// Documentation/admin-guide/iostats.rst, field 4 onward. A sector here is 512 bytes, always.
constexpr std::array<Column, 17> kColumns = {{
    {"node_disk_reads_completed_total", "counter",
     "The total number of reads completed successfully.", 1},
    {"node_disk_reads_merged_total", "counter", "The total number of reads merged.", 1},
    {"node_disk_read_bytes_total", "counter", "The total number of bytes read successfully.", 512},
    {"node_disk_read_time_seconds_total", "counter",
     "The total number of seconds spent by all reads.", .001},
    {"node_disk_writes_completed_total", "counter",
     "The total number of writes completed successfully.", 1},
    {"node_disk_writes_merged_total", "counter", "The number of writes merged.", 1},
    {"node_disk_written_bytes_total", "counter", "The total number of bytes written successfully.",
     512},
    {"node_disk_write_time_seconds_total", "counter",
     "This is the total number of seconds spent by all writes.", .001},
    {"node_disk_io_now", "gauge", "The number of I/Os currently in progress.", 1},
    {"node_disk_io_time_seconds_total", "counter", "Total seconds spent doing I/Os.", .001},
    {"node_disk_io_time_weighted_seconds_total", "counter",
     "The weighted # of seconds spent doing I/Os.", .001},
    {"node_disk_discards_completed_total", "counter",
     "The total number of discards completed successfully.", 1},
    {"node_disk_discards_merged_total", "counter", "The total number of discards merged.", 1},
    {"node_disk_discarded_sectors_total", "counter",
     "The total number of sectors discarded successfully.", 1},
    {"node_disk_discard_time_seconds_total", "counter",
     "This is the total number of seconds spent by all discards.", .001},
    {"node_disk_flush_requests_total", "counter",
     "The total number of flush requests completed successfully", 1},
    {"node_disk_flush_requests_time_seconds_total", "counter",
     "This is the total number of seconds spent by all flush requests.", .001},
}};

// `E:KEY=value` lines of udev's database.
struct UdevInfo {
  std::string path, wwn, model, serial, revision;
};

UdevInfo read_udev(const std::string& file) {
  UdevInfo info;
  std::string text;
  if (!read_file(file, text).ok()) return info;
  std::map<std::string, std::string, std::less<>> values;
  std::string_view rest = text, line;
  while (next_line(rest, line)) {
    const size_t equals = line.find('=');
    if (line.substr(0, 2) != "E:" || equals == std::string_view::npos) continue;
    values.insert_or_assign(std::string(line.substr(2, equals - 2)), line.substr(equals + 1));
  }
  info = {values["ID_PATH"], values["ID_WWN"], values["ID_MODEL"], values["ID_SERIAL_SHORT"],
          values["ID_REVISION"]};
  // SCSI disks: sg3-utils has the serial number an admin would read on the label.
  if (const auto scsi = values.find("SCSI_IDENT_SERIAL"); scsi != values.end())
    info.serial = scsi->second;
  return info;
}

class DiskstatsCollector final : public Collector {
 public:
  DiskstatsCollector(const Sources& sources, NameFilter devices)
      : file_(sources.proc("diskstats")),
        block_(sources.sys("block")),
        udev_(sources.udev_data),
        devices_(std::move(devices)) {}
  std::string_view name() const override { return "diskstats"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::array<Family*, kColumns.size()> families{};
    for (size_t i = 0; i < kColumns.size(); ++i)
      families[i] = &sink.family(kColumns[i].name, kColumns[i].type, kColumns[i].help);
    Family& info = sink.gauge("node_disk_info", "Info of /sys/block/<block_device>.");
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      const std::string_view major = next_word(line), minor = next_word(line),
                             device = next_word(line);
      if (device.empty() || !devices_.keeps(device)) continue;
      add_info(info, major, minor, device);
      for (size_t i = 0; i < kColumns.size(); ++i) {
        const auto number = to_uint(next_word(line));
        if (!number) break;  // older kernels have fewer columns
        // Divide rather than multiply: n * 0.001 is not the double nearest to n / 1000.
        const auto value = static_cast<double>(*number);
        families[i]->add({{"device", device}},
                         kColumns[i].factor < 1 ? value / 1000 : value * kColumns[i].factor);
      }
    }
    return {};
  }

 private:
  // Read once per device number: neither changes while a device keeps its number, or nearly so.
  struct Known {
    UdevInfo udev;
    std::string rotational;
  };

  void add_info(Family& family, std::string_view major, std::string_view minor,
                std::string_view device) {
    std::string key = std::string(major) + ':' + std::string(minor) + ' ' + std::string(device);
    auto found = known_.find(key);
    if (found == known_.end()) {
      if (known_.size() > 4096) known_.clear();
      Known known;
      known.udev = read_udev(udev_ + "/b" + std::string(major) + ':' + std::string(minor));
      known.rotational =
          read_line(block_ + '/' + std::string(device) + "/queue/rotational").value_or("0");
      found = known_.emplace(std::move(key), std::move(known)).first;
    }
    const Known& known = found->second;
    family.add({{"device", device},
                {"major", major},
                {"minor", minor},
                {"model", known.udev.model},
                {"path", known.udev.path},
                {"revision", known.udev.revision},
                {"rotational", known.rotational},
                {"serial", known.udev.serial},
                {"wwn", known.udev.wwn}},
               1);
  }

  KeptFile file_;
  const std::string block_, udev_;
  const NameFilter devices_;
  std::string text_;
  std::map<std::string, Known> known_;
};

}  // namespace

CollectorPtr make_diskstats(const Sources& sources, const Filters& filters) {
  return std::make_unique<DiskstatsCollector>(sources, filters.disk_devices);
}

}  // namespace vagt::agent

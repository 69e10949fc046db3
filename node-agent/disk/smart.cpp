#include "node-agent/disk/smart.h"

#include <boost/json.hpp>

#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

namespace json = boost::json;

// Every step may be missing, or of another kind.
const json::value* at(const json::value* from, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (from == nullptr || !from->is_object()) return nullptr;
    from = from->get_object().if_contains(key);
  }
  return from;
}

std::string text(const json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string().c_str())
                                                : std::string();
}

std::optional<double> number(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return static_cast<double>(value->get_int64());
  if (value->is_uint64()) return static_cast<double>(value->get_uint64());
  if (value->is_double()) return value->get_double();
  if (value->is_string()) return to_number(text(value));
  return std::nullopt;
}

Result<json::value> parse(std::string_view input) {
  json::error_code error;
  json::value value = json::parse(input, error);
  if (error) return Status::invalid("not JSON: " + error.message());
  if (!value.is_object()) return Status::invalid("not a JSON object");
  return value;
}

// `/dev/sda` is sda; members of a RAID get their number.
std::string device_label(std::string_view name, std::string_view type) {
  for (const std::string_view prefix : {"/dev/disk/by-id/", "/dev/"})
    if (name.substr(0, prefix.size()) == prefix) {
      name.remove_prefix(prefix.size());
      break;
    }
  std::string out(name);
  if (type.find(',') != std::string_view::npos) out += '_' + std::string(type);
  for (char& c : out)
    if (c == '/' || c == ',') c = '_';
  return out;
}

class Writer {
 public:
  Writer(MetricSink& sink, const json::value& root) : sink_(sink), root_(&root) {
    type_ = text(at(root_, {"device", "type"}));
    device_ = device_label(text(at(root_, {"device", "name"})), type_);
  }

  Result<SmartSummary> write() {
    SmartSummary summary;
    summary.device = device_;
    summary.exit_status =
        static_cast<int>(number(at(root_, {"smartctl", "exit_status"})).value_or(0));
    if (device_.empty()) return Status(Code::Unavailable, message());
    gauge("smartctl_device_smartctl_exit_status", "Exit status of smartctl on device.",
          summary.exit_status);
    summary.asleep = (summary.exit_status & 2) != 0 && is_asleep();
    gauge("vagt_smart_device_asleep", "1: the disk sleeps, and was not woken for this.",
          summary.asleep ? std::optional(1.0) : std::nullopt);
    if (summary.asleep) return summary;
    if ((summary.exit_status & 3) != 0 && at(root_, {"model_name"}) == nullptr &&
        at(root_, {"scsi_product"}) == nullptr)
      return Status(Code::Unavailable, device_ + ": " + message());
    identity();
    common();
    temperatures();
    ata();
    nvme();
    scsi();
    return summary;
  }

 private:
  std::string message() const {
    const json::value* messages = at(root_, {"smartctl", "messages"});
    if (messages != nullptr && messages->is_array())
      for (const json::value& entry : messages->get_array())
        if (const std::string words = text(at(&entry, {"string"})); !words.empty()) return words;
    return "smartctl gives no data";
  }
  bool is_asleep() const {
    const std::string words = message();
    for (const std::string_view mode : {"STANDBY", "SLEEP", "IDLE"})
      if (words.find(mode) != std::string::npos) return true;
    return false;
  }

  void add(std::string_view type, std::string_view name, std::string_view help,
           std::optional<double> value) {
    if (value) sink_.family(name, type, help).add({{"device", device_}}, *value);
  }
  void gauge(std::string_view name, std::string_view help, std::optional<double> value) {
    add("gauge", name, help, value);
  }
  void counter(std::string_view name, std::string_view help, std::optional<double> value) {
    add("counter", name, help, value);
  }
  void labelled(std::string_view name, std::string_view help, std::string_view label,
                std::string_view key, std::optional<double> value) {
    if (value) sink_.gauge(name, help).add({{"device", device_}, {label, key}}, *value);
  }

  void identity() {
    const auto or_unknown = [this](std::string_view key) {
      const std::string value = text(at(root_, {key}));
      return value.empty() ? std::string("unknown") : value;
    };
    std::string model = text(at(root_, {"model_name"}));
    if (model.empty()) model = text(at(root_, {"scsi_model_name"}));
    sink_.gauge("smartctl_device", "Device info")
        .add({{"ata_additional_product_id", or_unknown("ata_additional_product_id")},
              {"ata_version", text(at(root_, {"ata_version", "string"}))},
              {"device", device_},
              {"firmware_version", text(at(root_, {"firmware_version"}))},
              {"form_factor", text(at(root_, {"form_factor", "name"}))},
              {"interface", type_},
              {"model_family", or_unknown("model_family")},
              {"model_name", model},
              {"protocol", text(at(root_, {"device", "protocol"}))},
              {"sata_version", text(at(root_, {"sata_version", "string"}))},
              {"scsi_product", text(at(root_, {"scsi_product"}))},
              {"scsi_revision", text(at(root_, {"scsi_revision"}))},
              {"scsi_vendor", text(at(root_, {"scsi_vendor"}))},
              {"scsi_version", text(at(root_, {"scsi_version"}))},
              {"serial_number", text(at(root_, {"serial_number"}))}},
             1);
  }

  void common() {
    const json::value* passed = at(root_, {"smart_status", "passed"});
    if (passed != nullptr && passed->is_bool())
      gauge("smartctl_device_smart_status", "General smart status", passed->get_bool() ? 1 : 0);
    if (const auto hours = number(at(root_, {"power_on_time", "hours"})))
      counter("smartctl_device_power_on_seconds", "Device power on seconds",
              *hours * 3600 + number(at(root_, {"power_on_time", "minutes"})).value_or(0) * 60);
    auto cycles = number(at(root_, {"power_cycle_count"}));
    if (!cycles)
      cycles =
          number(at(root_, {"scsi_start_stop_cycle_counter", "accumulated_start_stop_cycles"}));
    counter("smartctl_device_power_cycle_count", "Device power cycle count", cycles);
    const auto rotation = number(at(root_, {"rotation_rate"}));
    if (rotation && *rotation > 0)
      gauge("smartctl_device_rotation_rate", "Device rotation rate", rotation);
    gauge("smartctl_device_capacity_blocks", "Device capacity in blocks",
          number(at(root_, {"user_capacity", "blocks"})));
    gauge("smartctl_device_capacity_bytes", "Device capacity in bytes",
          number(at(root_, {"user_capacity", "bytes"})));
    for (const std::string_view kind : {"logical", "physical"})
      labelled("smartctl_device_block_size", "Device block size", "blocks_type", kind,
               number(at(root_, {std::string(kind) + "_block_size"})));
    for (const std::string_view kind : {"max", "current"}) {
      const auto units = number(at(root_, {"interface_speed", kind, "units_per_second"})),
                 bits = number(at(root_, {"interface_speed", kind, "bits_per_unit"}));
      if (units && bits)
        labelled("smartctl_device_interface_speed", "Device interface speed, bits per second",
                 "speed_type", kind, *units * *bits);
    }
  }

  void temperatures() {
    const json::value* all = at(root_, {"temperature"});
    if (all == nullptr || !all->is_object()) return;
    for (const auto& entry : all->get_object())
      labelled("smartctl_device_temperature", "Device temperature celsius", "temperature_type",
               std::string_view(entry.key().data(), entry.key().size()), number(&entry.value()));
  }

  // Names of the flags that are set, in the order smartctl documents them.
  static std::string flag_names(const json::value* flags,
                                std::initializer_list<std::string_view> names) {
    std::string out;
    for (const std::string_view name : names) {
      const json::value* flag = at(flags, {name});
      if (flag == nullptr || !flag->is_bool() || !flag->get_bool()) continue;
      if (!out.empty()) out += ',';
      out += name;
    }
    return out;
  }
  static std::string flag_text(const json::value* flags) {
    return std::string(trim(text(at(flags, {"string"}))));
  }

  void ata() {
    attributes();
    statistics();
    gauge("smartctl_device_state",
          "Device state (0=active, 1=standby, 2=sleep, 3=dst, 4=offline, "
          "5=sct)",
          number(at(root_, {"ata_sct_status", "device_state", "value"})));
    for (const std::string_view operation : {"read", "write"})
      if (const auto tenths = number(at(root_, {"ata_sct_erc", operation, "deciseconds"})))
        labelled("smartctl_device_erc_seconds", "Device SMART Error Recovery Control Seconds",
                 "op_type", operation, *tenths / 10);
    each_log("ata_smart_error_log", "count", "smartctl_device_error_log_count",
             "Device SMART error log count", "error_log_type");
    each_log("ata_smart_self_test_log", "count", "smartctl_device_self_test_log_count",
             "Device SMART self test log count", "self_test_log_type");
    each_log("ata_smart_self_test_log", "error_count_total",
             "smartctl_device_self_test_log_error_count", "Device SMART self test log error count",
             "self_test_log_type");
  }

  void each_log(std::string_view log, std::string_view member, std::string_view name,
                std::string_view help, std::string_view label) {
    const json::value* logs = at(root_, {log});
    if (logs == nullptr || !logs->is_object()) return;
    for (const auto& entry : logs->get_object())
      labelled(name, help, label, std::string_view(entry.key().data(), entry.key().size()),
               number(at(&entry.value(), {member})));
  }

  void attributes() {
    const json::value* table = at(root_, {"ata_smart_attributes", "table"});
    if (table == nullptr || !table->is_array()) return;
    for (const json::value& row : table->get_array()) {
      const json::value* flags = at(&row, {"flags"});
      const std::string name = text(at(&row, {"name"})), short_flags = flag_text(flags),
                        long_flags =
                            flag_names(flags, {"prefailure", "updated_online", "performance",
                                               "error_rate", "event_count", "auto_keep"});
      const auto id = number(at(&row, {"id"}));
      if (!id) continue;
      const std::string id_text = std::to_string(static_cast<int>(*id));
      for (const std::string_view kind : {"value", "worst", "thresh", "raw"}) {
        const auto value = number(kind == "raw" ? at(&row, {"raw", "value"}) : at(&row, {kind}));
        if (value)
          sink_.gauge("smartctl_device_attribute", "Device attributes")
              .add({{"attribute_flags_long", long_flags},
                    {"attribute_flags_short", short_flags},
                    {"attribute_id", id_text},
                    {"attribute_name", name},
                    {"attribute_value_type", kind},
                    {"device", device_}},
                   *value);
      }
    }
  }

  void statistics() {
    const json::value* pages = at(root_, {"ata_device_statistics", "pages"});
    if (pages != nullptr && pages->is_array())
      for (const json::value& page : pages->get_array()) statistics_page(page);
    const json::value* phy = at(root_, {"sata_phy_event_counters", "table"});
    if (phy == nullptr || !phy->is_array()) return;
    for (const json::value& row : phy->get_array())
      statistic("SATA PHY Event Counters", text(at(&row, {"name"})), "V---", "valid",
                number(at(&row, {"value"})));
  }

  void statistics_page(const json::value& page) {
    const std::string name = text(at(&page, {"name"}));
    const json::value* table = at(&page, {"table"});
    // Vendors use one name for several of theirs: that would be one series twice.
    if (name == "Vendor Specific Statistics" || table == nullptr || !table->is_array()) return;
    for (const json::value& row : table->get_array()) {
      const json::value* flags = at(&row, {"flags"});
      statistic(
          name, text(at(&row, {"name"})), flag_text(flags),
          flag_names(flags, {"valid", "normalized", "supports_dsn", "monitored_condition_met"}),
          number(at(&row, {"value"})));
    }
  }

  void statistic(std::string_view table, std::string_view name, std::string_view short_flags,
                 std::string_view long_flags, std::optional<double> value) {
    if (value)
      sink_.gauge("smartctl_device_statistics", "Device statistics")
          .add({{"device", device_},
                {"statistic_flags_long", long_flags},
                {"statistic_flags_short", short_flags},
                {"statistic_name", name},
                {"statistic_table", table}},
               *value);
  }

  void nvme() {
    const json::value* log = at(root_, {"nvme_smart_health_information_log"});
    gauge("smartctl_device_nvme_capacity_bytes", "NVMe device total capacity bytes",
          number(at(root_, {"nvme_total_capacity"})));
    if (log == nullptr) return;
    const auto used = number(at(log, {"percentage_used"}));
    gauge("smartctl_device_percentage_used", "Device write percentage used", used);
    gauge("smartctl_device_available_spare",
          "Normalized percentage of the remaining spare capacity",
          number(at(log, {"available_spare"})));
    gauge("smartctl_device_available_spare_threshold",
          "Spare capacity below which an event may be reported",
          number(at(log, {"available_spare_threshold"})));
    gauge("smartctl_device_critical_warning", "Critical warnings for the state of the controller",
          number(at(log, {"critical_warning"})));
    counter("smartctl_device_media_errors",
            "Occurrences where the controller detected an unrecovered data integrity error",
            number(at(log, {"media_errors"})));
    counter("smartctl_device_num_err_log_entries", "Number of error information log entries",
            number(at(log, {"num_err_log_entries"})));
    const auto read = number(at(log, {"data_units_read"})),
               written = number(at(log, {"data_units_written"}));
    bytes(read ? std::optional(*read * 512000) : std::nullopt,
          written ? std::optional(*written * 512000) : std::nullopt);
    if (written && *written > 0)
      counter("vagt_nvme_host_bytes_written_total", "Bytes the host wrote to the drive.",
              *written * 512000);
    const auto hours = number(at(root_, {"power_on_time", "hours"}));
    if (used && hours && *used >= 1)
      gauge("vagt_nvme_endurance_seconds_left",
            "Time until the drive's rated writes are used up, at the pace so far.",
            std::max(0.0, (100 - *used) * *hours * 3600 / *used));
  }

  // What a drive does not count reads 0, and is absent.
  void bytes(std::optional<double> read, std::optional<double> written) {
    if (read && *read > 0) counter("smartctl_device_bytes_read", "Bytes read", read);
    if (written && *written > 0) counter("smartctl_device_bytes_written", "Bytes written", written);
  }

  void scsi() {
    gauge("smartctl_scsi_grown_defect_list", "Device SCSI grown defect list counter",
          number(at(root_, {"scsi_grown_defect_list"})));
    const json::value* log = at(root_, {"scsi_error_counter_log"});
    if (log == nullptr) return;
    const auto gigabytes = [&](std::string_view side) {
      const auto value = number(at(log, {side, "gigabytes_processed"}));
      return value ? std::optional(*value * 1e9) : std::nullopt;
    };
    bytes(gigabytes("read"), gigabytes("write"));
    for (const std::string side : {"read", "write"})
      for (const std::string member :
           {"errors_corrected_by_rereads_rewrites", "errors_corrected_by_eccfast",
            "errors_corrected_by_eccdelayed", "total_uncorrected_errors"})
        gauge("smartctl_" + side + '_' + member, "SCSI error counter: " + side + ' ' + member,
              number(at(log, {side, member})));
  }

  MetricSink& sink_;
  const json::value* root_;
  std::string device_, type_;
};

}  // namespace

Result<std::vector<SmartDevice>> parse_smart_scan(std::string_view input) {
  VAGT_TRY(const json::value root, parse(input));
  std::vector<SmartDevice> devices;
  const json::value* list = at(&root, {"devices"});
  if (list == nullptr || !list->is_array()) return devices;
  for (const json::value& entry : list->get_array()) {
    SmartDevice device{text(at(&entry, {"name"})), text(at(&entry, {"type"})),
                       text(at(&entry, {"protocol"}))};
    if (!device.name.empty()) devices.push_back(std::move(device));
  }
  return devices;
}

Result<SmartSummary> write_smart(MetricSink& sink, std::string_view input) {
  VAGT_TRY(const json::value root, parse(input));
  return Writer(sink, root).write();
}

Status write_ocp_log(MetricSink& sink, std::string_view input, std::string_view device) {
  VAGT_TRY(const json::value root, parse(input));
  const json::value* units = at(&root, {"Physical media units written"});
  if (units == nullptr) return Status::not_found("no `Physical media units written`");
  // A 128-bit number in two halves; older versions of nvme-cli print one.
  const auto low = number(at(units, {"lo"})), high = number(at(units, {"hi"}));
  const auto bytes =
      low ? std::optional(*low + high.value_or(0) * 18446744073709551616.0) : number(units);
  if (!bytes) return Status::not_found("`Physical media units written` is no number");
  sink.counter("vagt_nvme_media_bytes_written_total",
               "Bytes the drive wrote to its flash, its own housekeeping included.")
      .add({{"device", device}}, *bytes);
  return {};
}

}  // namespace vagt::agent

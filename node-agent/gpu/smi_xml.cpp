#include "node-agent/gpu/smi.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;  // path below the element to text

struct XmlGpu {
  std::string id;  // the attribute: the PCI address
  Values values;
  std::vector<Values> mig;
  double processes = 0;
  bool has_processes = false;
  std::vector<GpuProcess> process_list;
};
struct XmlLog {
  Values values;
  std::vector<XmlGpu> gpus;
};

// As much of XML as nvidia-smi writes: elements with text, no namespaces, no CDATA.
class LogReader {
 public:
  explicit LogReader(std::string_view text) : rest_(text) {}

  Result<XmlLog> read() {
    while (!rest_.empty()) {
      const size_t open = rest_.find('<');
      const std::string_view before = trim(rest_.substr(0, open));
      if (!before.empty() && !path_.empty()) text_ = before;
      if (open == std::string_view::npos) break;
      const size_t close = rest_.find('>', open);
      if (close == std::string_view::npos)
        return Status::invalid("nvidia-smi: XML ends inside a tag");
      const std::string_view tag = rest_.substr(open + 1, close - open - 1);
      rest_.remove_prefix(close + 1);
      if (tag.empty() || tag[0] == '?' || tag[0] == '!') continue;
      VAGT_CHECK_OK(tag[0] == '/' ? end(tag.substr(1)) : begin(tag));
    }
    if (!path_.empty() || !saw_log_) return Status::invalid("nvidia-smi: not a complete XML log");
    return std::move(log_);
  }

 private:
  static constexpr size_t kMaxDepth = 32, kMaxValues = 2'000'000;

  Status begin(std::string_view tag) {
    if (tag.back() == '/') return {};  // an empty element
    if (path_.size() >= kMaxDepth) return Status::invalid("nvidia-smi: XML is nested too deep");
    const std::string_view name = tag.substr(0, tag.find(' '));
    path_.emplace_back(name);
    text_ = {};
    saw_log_ = saw_log_ || name == "nvidia_smi_log";
    if (path_.size() == 2 && name == "gpu") {
      log_.gpus.emplace_back();
      const size_t id = tag.find("id=\"");
      if (id != std::string_view::npos)
        log_.gpus.back().id = tag.substr(id + 4, tag.find('"', id + 4) - id - 4);
    }
    if (path_.size() == 4 && name == "mig_device" && in_gpu()) log_.gpus.back().mig.emplace_back();
    if (path_.size() == 3 && name == "processes" && in_gpu()) log_.gpus.back().has_processes = true;
    if (path_.size() == 4 && name == "process_info" && in_gpu()) {
      XmlGpu& gpu = log_.gpus.back();
      ++gpu.processes;
      if (gpu.process_list.size() < kMaxGpuProcesses) gpu.process_list.emplace_back();
    }
    return {};
  }

  Status end(std::string_view name) {
    if (path_.empty() || path_.back() != name) return Status::invalid("nvidia-smi: XML tags cross");
    if (++values_ > kMaxValues) return Status(Code::LimitExceeded, "nvidia-smi: XML is too long");
    if (!text_.empty()) keep();
    text_ = {};
    path_.pop_back();
    return {};
  }

  bool in_gpu() const { return path_.size() > 1 && path_[1] == "gpu"; }

  void keep() {
    if (path_.size() >= 2 && !in_gpu()) log_.values.emplace(join(1), text_);
    if (path_.size() < 3 || !in_gpu()) return;
    if (path_[2] == "supported_clocks") return;
    if (path_[2] == "processes") return keep_process();
    if (path_.size() > 4 && path_[3] == "mig_device") {
      log_.gpus.back().mig.back().emplace(join(4), text_);
    } else {
      log_.gpus.back().values.emplace(join(2), text_);
    }
  }

  void keep_process() {
    XmlGpu& gpu = log_.gpus.back();
    // Beyond the limit processes are only counted.
    if (path_.size() != 5 || static_cast<double>(gpu.process_list.size()) != gpu.processes) return;
    if (path_[4] == "pid")
      gpu.process_list.back().pid = static_cast<unsigned>(to_uint(text_).value_or(0));
    if (path_[4] == "used_memory")
      if (const auto mebibytes = smi_number(text_))
        gpu.process_list.back().used_bytes = *mebibytes * 1048576;
  }

  std::string join(size_t from) const {
    std::string out;
    for (size_t i = from; i < path_.size(); ++i) {
      if (i > from) out += '/';
      out += path_[i];
    }
    return out;
  }

  std::string_view rest_, text_;
  std::vector<std::string> path_;
  size_t values_ = 0;
  bool saw_log_ = false;
  XmlLog log_;
};

std::string_view value(const Values& values, std::string_view path) {
  const auto found = values.find(path);
  return found == values.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<double> number(const Values& values, std::string_view alternatives) {
  while (!alternatives.empty()) {
    const size_t bar = alternatives.find('|');
    if (const auto n = smi_number(value(values, alternatives.substr(0, bar)))) return n;
    if (bar == std::string_view::npos) break;
    alternatives.remove_prefix(bar + 1);
  }
  return std::nullopt;
}

// The sum of what is there; nullopt when nothing is.
std::optional<double> sum(const Values& values, const std::string& prefix,
                          std::initializer_list<std::string_view> names) {
  std::optional<double> total;
  for (const std::string_view name : names)
    if (const auto n = number(values, prefix + std::string(name))) total = total.value_or(0) + *n;
  return total;
}

void take_ecc(const Values& v, GpuReading& gpu) {
  // v10 has totals; v11 counts SRAM and DRAM; v13 splits uncorrectable SRAM errors in two.
  const auto corrected = [&v](const std::string& scope) {
    const auto total = number(v, "ecc_errors/" + scope + "/single_bit/total");
    return total ? total
                 : sum(v, "ecc_errors/" + scope + '/', {"sram_correctable", "dram_correctable"});
  };
  const auto uncorrected = [&v](const std::string& scope) {
    const auto total = number(v, "ecc_errors/" + scope + "/double_bit/total");
    return total ? total
                 : sum(v, "ecc_errors/" + scope + '/',
                       {"sram_uncorrectable", "sram_uncorrectable_parity",
                        "sram_uncorrectable_secded", "dram_uncorrectable"});
  };
  gpu[GpuField::EccSbeVolatile] = corrected("volatile");
  gpu[GpuField::EccSbeAggregate] = corrected("aggregate");
  gpu[GpuField::EccDbeVolatile] = uncorrected("volatile");
  gpu[GpuField::EccDbeAggregate] = uncorrected("aggregate");
  for (const char* kind : {"parity", "secded"})
    if (const auto n = number(v, std::string("ecc_errors/aggregate/sram_uncorrectable_") + kind))
      gpu.sram_uncorrectable.emplace(kind, *n);
  gpu.sram_threshold_exceeded = number(v, "ecc_errors/aggregate/sram_threshold_exceeded");
  for (const char* availability : {"max", "high", "partial", "low", "none"})
    if (const auto n =
            number(v, std::string("remapped_rows/row_remapper_histogram/row_remapper_histogram_") +
                          availability))
      gpu.remapped_banks.emplace(availability, *n);
}

void take_throttling(const Values& v, GpuReading& gpu) {
  constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
      {"sw_power_cap", "sw_power_cap"},
      {"sync_boost", "sync_boost"},
      {"sw_thermal", "sw_therm_slowdown"},
      {"hw_thermal", "hw_therm_slowdown"},
      {"hw_power_brake", "hw_power_brake"}};
  const std::string prefix = "clocks_event_reasons_counters/clocks_event_reasons_counters_";
  for (const auto& [reason, element] : kReasons)
    if (const auto microseconds = number(v, prefix + std::string(element)))
      gpu.throttle_seconds.emplace(reason, *microseconds / 1e6);
  if (const auto total = sum(v, prefix, {"sw_therm_slowdown", "hw_therm_slowdown"}))
    gpu[GpuField::ThermalViolation] = *total * 1000;
}

MigInstance read_mig(const Values& v) {
  MigInstance mig;
  mig.gpu_instance_id = smi_text(value(v, "gpu_instance_id"));
  mig.compute_instance_id = smi_text(value(v, "compute_instance_id"));
  mig.uuid = smi_text(value(v, "uuid"));
  mig.profile = smi_text(value(v, "profile"));
  mig.fb_free = number(v, "fb_memory_usage/free");
  mig.fb_used = number(v, "fb_memory_usage/used");
  return mig;
}

GpuReading read_gpu(const XmlGpu& xml, size_t index) {
  const Values& v = xml.values;
  GpuReading gpu;
  gpu.index = std::to_string(index);
  gpu.uuid = smi_text(value(v, "uuid"));
  gpu.pci_bus_id = smi_text(value(v, "pci/pci_bus_id"));
  if (gpu.pci_bus_id.empty()) gpu.pci_bus_id = xml.id;
  const auto minor = number(v, "minor_number");
  gpu.device = "nvidia" + (minor ? std::to_string(static_cast<int>(*minor)) : gpu.index);
  gpu.model = smi_text(value(v, "product_name"));
  gpu.serial = smi_text(value(v, "serial"));
  gpu.vbios = smi_text(value(v, "vbios_version"));
  gpu.board_part_number = smi_text(value(v, "board_part_number"));
  gpu.mig_mode = smi_text(value(v, "mig_mode/current_mig"));
  gpu.ecc_mode = smi_text(value(v, "ecc_mode/current_ecc"));
  gpu.persistence_mode = smi_text(value(v, "persistence_mode"));
  gpu.error = smi_error(value(v, "temperature/gpu_temp"));
  gpu.up = gpu.error == kGpuOk;
  for (const GpuFamily& family : kGpuFamilies)
    if (const auto n = number(v, family.xml)) gpu[family.field] = *n * family.smi_factor;
  gpu.temperature_margin = number(v, "temperature/gpu_temp_tlimit");
  gpu.recovery_action = smi_recovery_action(value(v, "gpu_recovery_action"));
  if (const auto mebibytes = number(v, "bar1_memory_usage/used"))
    gpu.bar1_used_bytes = *mebibytes * 1048576;
  if (xml.has_processes) gpu.processes = xml.processes;
  gpu.process_list = xml.process_list;
  gpu.graphics_clock = number(xml.values, "clocks/graphics_clock");
  const std::string_view fabric = value(v, "fabric/state");
  if (fabric == "Completed") gpu.fabric_state = 3;
  if (fabric == "In Progress") gpu.fabric_state = 2;
  if (fabric == "Not Started") gpu.fabric_state = 1;
  take_ecc(v, gpu);
  take_throttling(v, gpu);
  for (const Values& mig : xml.mig) gpu.mig.push_back(read_mig(mig));
  complete(gpu);
  return gpu;
}

}  // namespace

Result<GpuSnapshot> parse_smi_xml(std::string_view text) {
  VAGT_TRY(const XmlLog log, LogReader(text).read());
  GpuSnapshot snapshot;
  snapshot.driver_version = smi_text(value(log.values, "driver_version"));
  snapshot.cuda_version = smi_text(value(log.values, "cuda_version"));
  for (size_t i = 0; i < log.gpus.size(); ++i) snapshot.gpus.push_back(read_gpu(log.gpus[i], i));
  return snapshot;
}

}  // namespace vagt::agent

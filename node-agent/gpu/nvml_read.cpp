#include "node-agent/gpu/nvml_read.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace vagt::agent {
namespace {

constexpr double kMebibyte = 1048576;
constexpr unsigned kMaxNvlinks = 18, kMaxMig = 16;

// Field ids of nvmlDeviceGetFieldValues.
enum Field : unsigned {
  kNvlinkCrcFlit = 38,
  kNvlinkCrcData = 45,
  kNvlinkReplay = 52,
  kNvlinkRecovery = 59,
  kPowerViolation = 74,
  kThermalViolation = 75,
  kSyncBoostViolation = 76,
  kBoardLimitViolation = 77,
  kLowUtilViolation = 78,
  kReliabilityViolation = 79,
  kMemoryTemperature = 82,
  kRecoveryAction = 230,
  kSoftwareThermal = 269,
  kHardwareThermal = 270,
  kPowerBrake = 271,
};

std::optional<double> value_of(const NvmlFieldValue& field) {
  if (field.result != kNvmlSuccess) return std::nullopt;
  switch (field.value_type) {
    case 0:
      return field.value.as_double;
    case 1:
      return field.value.as_unsigned;
    case 2:
      return static_cast<double>(field.value.as_unsigned_long);
    case 3:
      return static_cast<double>(field.value.as_unsigned_long_long);
    case 4:
      return static_cast<double>(field.value.as_long_long);
    case 5:
      return field.value.as_int;
    case 6:
      return field.value.as_unsigned_short;
    default:
      return std::nullopt;
  }
}

class Reader {
 public:
  Reader(const NvmlApi& api, const std::function<void()>& before_call)
      : api_(api), before_call_(before_call) {}

  GpuReading read(unsigned index, NvmlAsk ask) {
    ask_ = ask;
    gpu_.index = std::to_string(index);
    gpu_.device = "nvidia" + gpu_.index;
    before_call_();
    note(api_.handle(index, &device_));
    if (device_ == nullptr || lost()) return std::move(gpu_);
    identity();
    if (!lost()) thermal_and_power();
    if (!lost()) load_and_memory();
    if (!lost()) errors();
    if (!lost()) links();
    if (!lost()) field_values();
    if (!lost() && ask.nvlink) nvlinks();
    if (!lost() && ask.pcie_throughput) pcie_throughput();
    if (!lost() && gpu_.mig_mode == "Enabled") mig_instances();
    complete(gpu_);
    return std::move(gpu_);
  }

 private:
  bool lost() const { return gpu_.error == kGpuIsLost || gpu_.error == kGpuUnknownError; }

  // NOT_SUPPORTED and the like only mean that this field is absent.
  bool note(int result) {
    if (result == kNvmlGpuIsLost || result == kNvmlResetRequired || result == kNvmlUnknown) {
      gpu_.error = result;
      gpu_.up = false;
    }
    return result == kNvmlSuccess;
  }

  // Calls `function` when the library has it and the GPU still answers.
  template <class Function, class... Arguments>
  bool call(Function function, Arguments... arguments) {
    if (function == nullptr || lost()) return false;
    before_call_();
    return note(function(device_, arguments...));
  }

  std::string text(int (*function)(NvmlDevice, char*, unsigned)) {
    char buffer[128] = {};
    return call(function, buffer, static_cast<unsigned>(sizeof buffer - 1)) ? buffer : "";
  }

  void number(GpuField field, int (*function)(NvmlDevice, unsigned*), double divisor = 1) {
    unsigned value = 0;
    if (call(function, &value)) gpu_[field] = value / divisor;
  }

  void identity() {
    gpu_.uuid = text(api_.uuid);
    gpu_.model = text(api_.name);
    gpu_.serial = text(api_.serial);
    gpu_.vbios = text(api_.vbios);
    gpu_.board_part_number = text(api_.board_part);
    unsigned minor = 0;
    if (call(api_.minor, &minor)) gpu_.device = "nvidia" + std::to_string(minor);
    NvmlPciInfo pci{};
    if (call(api_.pci, &pci))
      gpu_.pci_bus_id.assign(pci.bus_id, strnlen(pci.bus_id, sizeof pci.bus_id));
    unsigned mig = 0, pending = 0;
    if (call(api_.mig_mode, &mig, &pending)) gpu_.mig_mode = mig != 0 ? "Enabled" : "Disabled";
    int ecc = 0, ecc_pending = 0, persistence = 0;
    if (call(api_.ecc_mode, &ecc, &ecc_pending)) gpu_.ecc_mode = ecc != 0 ? "Enabled" : "Disabled";
    if (call(api_.persistence, &persistence))
      gpu_.persistence_mode = persistence != 0 ? "Enabled" : "Disabled";
  }

  void thermal_and_power() {
    unsigned value = 0, other = 0;
    if (call(api_.temperature, 0, &value)) gpu_[GpuField::GpuTemp] = value;
    constexpr std::pair<int, GpuField> kThresholds[] = {{0, GpuField::ShutdownTemp},
                                                        {1, GpuField::SlowdownTemp},
                                                        {2, GpuField::MemMaxOpTemp},
                                                        {3, GpuField::GpuMaxOpTemp}};
    for (const auto& [kind, field] : kThresholds)
      if (call(api_.temperature_threshold, kind, &value) && value > 0 && value < 1000)
        gpu_[field] = value;
    NvmlMarginTemperature margin{nvml_version<NvmlMarginTemperature>(1), 0};
    if (call(api_.margin, &margin)) gpu_.temperature_margin = margin.margin;
    number(GpuField::PowerUsage, api_.power, 1000);
    number(GpuField::PowerLimit, api_.power_limit, 1000);
    number(GpuField::PowerLimitDefault, api_.power_default, 1000);
    number(GpuField::EnforcedPowerLimit, api_.enforced_limit, 1000);
    if (call(api_.power_constraints, &value, &other)) {
      gpu_[GpuField::PowerLimitMin] = value / 1000.0;
      gpu_[GpuField::PowerLimitMax] = other / 1000.0;
    }
    unsigned long long energy = 0;
    if (call(api_.energy, &energy)) gpu_[GpuField::TotalEnergy] = static_cast<double>(energy);
    number(GpuField::FanSpeed, api_.fan);
  }

  void load_and_memory() {
    unsigned value = 0, period = 0;
    if (call(api_.clock, 0, &value)) gpu_.graphics_clock = value;
    if (call(api_.clock, 1, &value)) gpu_[GpuField::SmClock] = value;
    if (call(api_.clock, 2, &value)) gpu_[GpuField::MemClock] = value;
    int pstate = 32;
    if (call(api_.pstate, &pstate) && pstate < 32) gpu_[GpuField::Pstate] = pstate;
    NvmlUtilization load{};
    if (call(api_.utilization, &load)) {
      gpu_[GpuField::GpuUtil] = load.gpu;
      gpu_[GpuField::MemCopyUtil] = load.memory;
    }
    if (call(api_.encoder, &value, &period)) gpu_[GpuField::EncUtil] = value;
    if (call(api_.decoder, &value, &period)) gpu_[GpuField::DecUtil] = value;
    memory();
    NvmlBar1Memory bar1{};
    if (call(api_.bar1, &bar1)) gpu_.bar1_used_bytes = static_cast<double>(bar1.used);
    processes();
    unsigned long long reasons = 0;
    if (call(api_.event_reasons, &reasons))
      gpu_[GpuField::ClocksEventReasons] = static_cast<double>(reasons);
  }

  // Asked with no room the answer is only how many there are.
  void processes() {
    if (api_.processes == nullptr || lost()) return;
    unsigned count = 0;
    before_call_();
    int result = api_.processes(device_, &count, nullptr);
    if (result != kNvmlSuccess && result != kNvmlInsufficientSize) return;
    gpu_.processes = count;
    if (!ask_.processes || count == 0) return;
    std::array<NvmlProcessInfo, kMaxGpuProcesses> infos{};
    count = static_cast<unsigned>(infos.size());
    before_call_();
    result = api_.processes(device_, &count, infos.data());
    if (result != kNvmlSuccess) return;
    for (unsigned i = 0; i < std::min<unsigned>(count, kMaxGpuProcesses); ++i) {
      GpuProcess process;
      process.pid = infos[i].pid;
      if (infos[i].used_memory != ~0ULL)  // "not available"
        process.used_bytes = static_cast<double>(infos[i].used_memory);
      gpu_.process_list.push_back(process);
    }
  }

  // The old call counts the reserved part as used.
  void memory() {
    const auto mebibytes = [](unsigned long long bytes) {
      return static_cast<double>(bytes) / kMebibyte;
    };
    NvmlMemoryV2 memory{};
    memory.version = nvml_version<NvmlMemoryV2>(2);
    if (call(api_.memory_v2, &memory)) {
      gpu_[GpuField::FbTotal] = mebibytes(memory.total);
      gpu_[GpuField::FbFree] = mebibytes(memory.free);
      gpu_[GpuField::FbUsed] = mebibytes(memory.used);
      gpu_[GpuField::FbReserved] = mebibytes(memory.reserved);
      return;
    }
    NvmlMemory old{};
    if (!call(api_.memory, &old)) return;
    gpu_[GpuField::FbTotal] = mebibytes(old.total);
    gpu_[GpuField::FbFree] = mebibytes(old.free);
    gpu_[GpuField::FbUsed] = mebibytes(old.used);
  }

  void errors() {
    struct Ecc {
      int type, counter;
      GpuField field;
    };
    constexpr Ecc kEcc[] = {{0, 0, GpuField::EccSbeVolatile},
                            {0, 1, GpuField::EccSbeAggregate},
                            {1, 0, GpuField::EccDbeVolatile},
                            {1, 1, GpuField::EccDbeAggregate}};
    unsigned long long total = 0;
    for (const Ecc& ecc : kEcc)
      if (call(api_.ecc, ecc.type, ecc.counter, &total))
        gpu_[ecc.field] = static_cast<double>(total);
    unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (call(api_.remapped, &corrected, &uncorrected, &pending, &failed)) {
      gpu_[GpuField::CorrectableRemappedRows] = corrected;
      gpu_[GpuField::UncorrectableRemappedRows] = uncorrected;
      gpu_[GpuField::RowRemapPending] = pending;
      gpu_[GpuField::RowRemapFailure] = failed;
    }
    NvmlRowRemapperHistogram banks{};
    if (call(api_.remap_histogram, &banks))
      gpu_.remapped_banks = {{"max", banks.max},
                             {"high", banks.high},
                             {"partial", banks.partial},
                             {"low", banks.low},
                             {"none", banks.none}};
    retired_pages(0, GpuField::RetiredSbe);
    retired_pages(1, GpuField::RetiredDbe);
    int retiring = 0;
    if (call(api_.retired_pending, &retiring)) gpu_[GpuField::RetiredPending] = retiring;
  }

  void retired_pages(int cause, GpuField field) {
    if (api_.retired == nullptr || lost()) return;
    unsigned count = 0;
    before_call_();
    const int result = api_.retired(device_, cause, &count, nullptr);
    if (result == kNvmlSuccess || result == kNvmlInsufficientSize) gpu_[field] = count;
  }

  void links() {
    number(GpuField::PcieReplay, api_.replay);
    number(GpuField::PcieLinkGen, api_.link_gen);
    number(GpuField::PcieLinkWidth, api_.link_width);
    number(GpuField::PcieMaxLinkGen, api_.max_link_gen);
    number(GpuField::PcieMaxLinkWidth, api_.max_link_width);
  }

  void field_values() {
    constexpr unsigned kIds[] = {kMemoryTemperature, kRecoveryAction,       kPowerViolation,
                                 kThermalViolation,  kSyncBoostViolation,   kBoardLimitViolation,
                                 kLowUtilViolation,  kReliabilityViolation, kSoftwareThermal,
                                 kHardwareThermal,   kPowerBrake,           kNvlinkCrcFlit,
                                 kNvlinkCrcData,     kNvlinkReplay,         kNvlinkRecovery};
    NvmlFieldValue values[std::size(kIds)] = {};
    for (size_t i = 0; i < std::size(kIds); ++i) {
      values[i].field_id = kIds[i];
      values[i].result = kNvmlNotSupported;
    }
    if (!call(api_.fields, static_cast<int>(std::size(kIds)), &values[0])) return;
    std::map<unsigned, std::optional<double>> by_id;
    for (const NvmlFieldValue& value : values) by_id[value.field_id] = value_of(value);
    gpu_[GpuField::MemoryTemp] = by_id[kMemoryTemperature];
    gpu_.recovery_action = by_id[kRecoveryAction];
    gpu_[GpuField::PowerViolation] = by_id[kPowerViolation];
    gpu_[GpuField::ThermalViolation] = by_id[kThermalViolation];
    if (!by_id[kThermalViolation] && (by_id[kSoftwareThermal] || by_id[kHardwareThermal]))
      gpu_[GpuField::ThermalViolation] =
          by_id[kSoftwareThermal].value_or(0) + by_id[kHardwareThermal].value_or(0);
    gpu_[GpuField::SyncBoostViolation] = by_id[kSyncBoostViolation];
    gpu_[GpuField::BoardLimitViolation] = by_id[kBoardLimitViolation];
    gpu_[GpuField::LowUtilViolation] = by_id[kLowUtilViolation];
    gpu_[GpuField::ReliabilityViolation] = by_id[kReliabilityViolation];
    gpu_[GpuField::NvlinkCrcFlit] = by_id[kNvlinkCrcFlit];
    gpu_[GpuField::NvlinkCrcData] = by_id[kNvlinkCrcData];
    gpu_[GpuField::NvlinkReplay] = by_id[kNvlinkReplay];
    gpu_[GpuField::NvlinkRecovery] = by_id[kNvlinkRecovery];
    constexpr std::pair<const char*, unsigned> kReasons[] = {{"sw_power_cap", kPowerViolation},
                                                             {"sync_boost", kSyncBoostViolation},
                                                             {"sw_thermal", kSoftwareThermal},
                                                             {"hw_thermal", kHardwareThermal},
                                                             {"hw_power_brake", kPowerBrake}};
    for (const auto& [reason, id] : kReasons)
      if (by_id[id]) gpu_.throttle_seconds.emplace(reason, *by_id[id] / 1e9);
  }

  // A link the product does not have is not supported: absent, not down.
  void nvlinks() {
    constexpr std::pair<int, const char*> kKinds[] = {
        {0, "replay"}, {1, "recovery"}, {2, "crc_flit"}, {3, "crc_data"}};
    for (unsigned link = 0; link < kMaxNvlinks; ++link) {
      int active = 0;
      if (!call(api_.nvlink_state, link, &active)) continue;
      NvlinkReading nvlink;
      nvlink.link = static_cast<int>(link);
      nvlink.up = active != 0;
      unsigned long long errors = 0;
      for (const auto& [kind, name] : kKinds)
        if (call(api_.nvlink_errors, link, kind, &errors))
          nvlink.errors.emplace(name, static_cast<double>(errors));
      gpu_.nvlinks.push_back(std::move(nvlink));
    }
  }

  void pcie_throughput() {
    unsigned kilobytes = 0;
    if (call(api_.pcie_throughput, 0, &kilobytes)) gpu_[GpuField::ProfPcieTx] = kilobytes * 1000.0;
    if (call(api_.pcie_throughput, 1, &kilobytes)) gpu_[GpuField::ProfPcieRx] = kilobytes * 1000.0;
  }

  // Instances may have gaps; each has a handle that answers for memory and little else.
  void mig_instances() {
    unsigned count = 0;
    if (api_.mig_handle == nullptr || !call(api_.mig_count, &count)) return;
    NvmlDevice parent = device_;
    for (unsigned i = 0; i < std::min(count, kMaxMig) && !lost(); ++i) {
      NvmlDevice instance = nullptr;
      before_call_();
      if (api_.mig_handle(parent, i, &instance) != kNvmlSuccess || instance == nullptr) continue;
      device_ = instance;
      gpu_.mig.push_back(mig_instance());
      device_ = parent;
    }
  }

  MigInstance mig_instance() {
    MigInstance mig;
    unsigned id = 0;
    if (call(api_.gpu_instance, &id)) mig.gpu_instance_id = std::to_string(id);
    if (call(api_.compute_instance, &id)) mig.compute_instance_id = std::to_string(id);
    mig.uuid = text(api_.uuid);
    // "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
    const std::string name = text(api_.name);
    const size_t at = name.rfind("MIG ");
    if (at != std::string::npos) mig.profile = name.substr(at + 4);
    NvmlMemoryV2 memory{};
    memory.version = nvml_version<NvmlMemoryV2>(2);
    if (call(api_.memory_v2, &memory)) {
      mig.fb_free = static_cast<double>(memory.free) / kMebibyte;
      mig.fb_used = static_cast<double>(memory.used) / kMebibyte;
    }
    return mig;
  }

  const NvmlApi& api_;
  NvmlAsk ask_;
  const std::function<void()>& before_call_;
  NvmlDevice device_ = nullptr;
  GpuReading gpu_;
};

}  // namespace

GpuReading read_nvml_gpu(const NvmlApi& api, unsigned index, NvmlAsk ask,
                         const std::function<void()>& before_call) {
  return Reader(api, before_call).read(index, ask);
}

void read_nvml_versions(const NvmlApi& api, GpuSnapshot& snapshot) {
  char text[96] = {};
  if (api.driver_version != nullptr && api.driver_version(text, sizeof text - 1) == kNvmlSuccess)
    snapshot.driver_version = text;
  if (api.nvml_version != nullptr && api.nvml_version(text, sizeof text - 1) == kNvmlSuccess)
    snapshot.nvml_version = text;
  int cuda = 0;
  if (api.cuda_version != nullptr && api.cuda_version(&cuda) == kNvmlSuccess)
    snapshot.cuda_version = std::to_string(cuda / 1000) + '.' + std::to_string(cuda % 1000 / 10);
}

}  // namespace vagt::agent

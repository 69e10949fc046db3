#include "node-agent/gpu/known_gpus.h"

#include <algorithm>

#include "node-agent/state_file.h"

namespace vagt::agent {
namespace {

constexpr auto kMarginPatience = std::chrono::minutes(1);
constexpr auto kTicketMemory = std::chrono::hours(1);
constexpr double kLowMargin = 5;

size_t active_links(const GpuReading& gpu) {
  return static_cast<size_t>(std::count_if(gpu.nvlinks.begin(), gpu.nvlinks.end(),
                                           [](const NvlinkReading& link) { return link.up; }));
}

}  // namespace

KnownGpus::KnownGpus(const Sources& sources)
    : pci_(sources.sys("bus/pci/devices")),
      state_path_(sources.once ? "" : Sources::join(sources.state_dir, "gpus.state")),
      boot_id_(read_line(sources.proc("sys/kernel/random/boot_id")).value_or(std::string())),
      recorded_(!sources.fixtures.nvidia_smi.empty() || !sources.fixtures.nvlink.empty()),
      state_(sources.state),
      log_(sources.log.with_component("state")),
      directory_(sources.gpus) {
  load();
}

// One line each: UUID, index, PCI address, NVLinks.
void KnownGpus::load() {
  if (state_path_.empty()) return;
  const std::string text = load_boot_state(state_path_, boot_id_);
  std::string_view rest = text, line;
  while (next_line(rest, line)) {
    std::string_view field[4];
    for (std::string_view& f : field) {
      const size_t tab = line.find('\t');
      f = line.substr(0, tab);
      line.remove_prefix(tab == std::string_view::npos ? line.size() : tab + 1);
    }
    if (field[0].empty()) continue;
    Known& known = known_[std::string(field[0])];
    known.index = field[1];
    known.pci_bus_id = field[2];
    known.nvlinks = to_uint(field[3]).value_or(0);
    directory_->set_identity(known.pci_bus_id, {known.index, std::string(field[0])});
  }
}

void KnownGpus::save() const {
  if (state_path_.empty()) return;
  std::string text;
  for (const auto& [uuid, known] : known_)
    text += uuid + '\t' + known.index + '\t' + known.pci_bus_id + '\t' +
            std::to_string(known.nvlinks) + '\n';
  state_->note(save_boot_state(state_path_, boot_id_, text), log_);
}

void KnownGpus::see(const std::vector<GpuReading>& present) {
  bool changed = false;
  for (const GpuReading& gpu : present) {
    if (gpu.uuid.empty()) continue;
    const auto [entry, is_new] = known_.try_emplace(gpu.uuid);
    Known& known = entry->second;
    const size_t nvlinks = std::max(known.nvlinks, active_links(gpu));
    if (!is_new && known.index == gpu.index && known.pci_bus_id == gpu.pci_bus_id &&
        known.nvlinks == nvlinks)
      continue;
    known.index = gpu.index;
    if (!gpu.pci_bus_id.empty()) known.pci_bus_id = gpu.pci_bus_id;
    known.nvlinks = nvlinks;
    directory_->set_identity(known.pci_bus_id, {known.index, gpu.uuid});
    changed = true;
  }
  if (changed) save();
}

void KnownGpus::write_missing(MetricSink& sink, const std::vector<GpuReading>& present,
                              std::optional<double> expected) const {
  for (const auto& [uuid, known] : known_) {
    const LabelView labels[] = {
        {"UUID", uuid}, {"gpu", known.index}, {"pci_bus_id", known.pci_bus_id}};
    if (known.nvlinks > 0)
      sink.gauge("vagt_nvlink_expected_links", "The most links of this GPU that were ever active.")
          .add(labels, static_cast<double>(known.nvlinks));
    const bool here = std::any_of(present.begin(), present.end(),
                                  [&id = uuid](const GpuReading& gpu) { return gpu.uuid == id; });
    if (here) continue;
    sink.gauge("vagt_gpu_up", "1: the driver answered for this GPU; 0: lost, needs a reset, hangs.")
        .add(labels, 0);
    sink.gauge("vagt_gpu_health", "0 ok, 1 attention, 2 needs a reset, 3 lost.").add(labels, 3);
  }
  const double count = expected.value_or(static_cast<double>(known_.size()));
  if (count > 0)
    sink.gauge("vagt_gpu_count", "GPUs by who counts them: nvml, pci, expected.")
        .add({{"source", "expected"}}, count);
}

bool KnownGpus::is_on_bus(const std::string& pci_bus_id) const {
  if (recorded_ || pci_bus_id.empty() || !exists(pci_)) return true;
  return exists(pci_ + '/' + GpuDirectory::normal(pci_bus_id));
}

bool KnownGpus::needs_reset(const GpuReading& gpu, const Known& known) const {
  if (!gpu.up) return true;
  if (gpu.recovery_action.value_or(0) > 0) return true;
  if (gpu[GpuField::RowRemapFailure].value_or(0) > 0) return true;
  if (gpu.sram_threshold_exceeded.value_or(0) > 0) return true;
  const auto page = directory_->xids(gpu.pci_bus_id).last_page;
  return page && (!known.reset_at || *page > *known.reset_at);
}

bool KnownGpus::wants_attention(const GpuReading& gpu, Known& known, Timestamp now) const {
  const bool margin_low = gpu.temperature_margin && *gpu.temperature_margin <= kLowMargin;
  if (!margin_low) known.margin_low_since.reset();
  if (margin_low && !known.margin_low_since) known.margin_low_since = now;
  if (margin_low && now - *known.margin_low_since >= kMarginPatience) return true;
  if (gpu[GpuField::RowRemapPending].value_or(0) > 0) return true;
  if (gpu[GpuField::RetiredPending].value_or(0) > 0) return true;
  const auto width = gpu[GpuField::PcieLinkWidth], max_width = gpu[GpuField::PcieMaxLinkWidth];
  if (width && max_width && *width < *max_width) return true;
  if (!gpu.nvlinks.empty() && active_links(gpu) < known.nvlinks) return true;
  const auto ticket = directory_->xids(gpu.pci_bus_id).last_ticket;
  return ticket && now - *ticket <= kTicketMemory;
}

int KnownGpus::health(const GpuReading& gpu, Timestamp now) {
  Known unnamed;  // a GPU that never said who it is has no history
  Known& known = gpu.uuid.empty() ? unnamed : known_[gpu.uuid];
  const auto energy = gpu[GpuField::TotalEnergy];
  if (energy && known.energy && *energy < *known.energy) known.reset_at = now;
  if (energy) known.energy = energy;
  if (gpu.error == kGpuIsLost || !is_on_bus(gpu.pci_bus_id)) return 3;
  if (needs_reset(gpu, known)) return 2;
  return wants_attention(gpu, known, now) ? 1 : 0;
}

}  // namespace vagt::agent

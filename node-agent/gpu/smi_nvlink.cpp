#include <algorithm>

#include "node-agent/gpu/smi.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

// `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)`
GpuReading* find_gpu(std::string_view line, GpuSnapshot& snapshot, bool add) {
  const size_t colon = line.find(':'), uuid = line.find("(UUID: ");
  if (colon == std::string_view::npos || uuid == std::string_view::npos) return nullptr;
  const std::string_view id = line.substr(uuid + 7, line.find(')', uuid) - uuid - 7);
  for (GpuReading& gpu : snapshot.gpus)
    if (gpu.uuid == id) return &gpu;
  if (!add) return nullptr;
  GpuReading gpu;
  gpu.index = trim(line.substr(4, colon - 4));
  gpu.uuid = id;
  snapshot.gpus.push_back(std::move(gpu));
  return &snapshot.gpus.back();
}

// Calls `take(gpu, link, rest)` for each `Link N: rest`.
template <class Take>
void for_each_link(std::string_view text, GpuSnapshot& snapshot, bool add, Take take) {
  GpuReading* gpu = nullptr;
  std::string_view line;
  while (next_line(text, line)) {
    line = trim(line);
    if (line.substr(0, 4) == "GPU ") gpu = find_gpu(line, snapshot, add);
    if (gpu == nullptr || line.substr(0, 5) != "Link ") continue;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto link = to_uint(line.substr(5, colon - 5));
    if (link && *link < 64) take(*gpu, static_cast<int>(*link), trim(line.substr(colon + 1)));
  }
}

}  // namespace

void read_nvlink_status(std::string_view text, GpuSnapshot& snapshot) {
  for_each_link(text, snapshot, true, [](GpuReading& gpu, int link, std::string_view rest) {
    NvlinkReading nvlink;
    nvlink.link = link;
    std::string_view words = rest;
    if (const auto gigabytes = to_number(next_word(words))) {
      nvlink.up = true;
      nvlink.speed_bytes_per_second = *gigabytes * 1e9;
    } else if (rest != "<inactive>") {
      return;
    }
    gpu.nvlinks.push_back(std::move(nvlink));
  });
}

void read_nvlink_errors(std::string_view text, GpuSnapshot& snapshot) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"Replay Errors", "replay"}, {"Recovery Errors", "recovery"}, {"CRC Errors", "crc_flit"}};
  for_each_link(text, snapshot, false, [&](GpuReading& gpu, int link, std::string_view rest) {
    const size_t colon = rest.find(':');
    const auto count = to_number(trim(rest.substr(std::min(colon, rest.size() - 1) + 1)));
    const auto nvlink = std::find_if(gpu.nvlinks.begin(), gpu.nvlinks.end(),
                                     [link](const NvlinkReading& n) { return n.link == link; });
    if (!count || nvlink == gpu.nvlinks.end()) return;
    for (const auto& [text_kind, kind] : kKinds)
      if (rest.substr(0, colon) == text_kind) nvlink->errors.emplace(kind, *count);
  });
  constexpr std::pair<std::string_view, GpuField> kTotals[] = {
      {"crc_flit", GpuField::NvlinkCrcFlit},
      {"replay", GpuField::NvlinkReplay},
      {"recovery", GpuField::NvlinkRecovery}};
  for (GpuReading& gpu : snapshot.gpus)
    for (const auto& [kind, field] : kTotals)
      for (const NvlinkReading& nvlink : gpu.nvlinks)
        if (const auto found = nvlink.errors.find(std::string(kind)); found != nvlink.errors.end())
          gpu[field] = gpu[field].value_or(0) + found->second;
}

}  // namespace vagt::agent

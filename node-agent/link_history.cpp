#include "node-agent/link_history.h"

#include <algorithm>

#include "base/number_text.h"
#include "node-agent/kernel_log/record.h"

namespace vagt::agent {
namespace {

constexpr size_t kMaxNeighbours = 256, kMaxText = 128;

std::string bounded(std::string_view text) {
  std::string out = clean_message(text);
  if (out.size() <= kMaxText) return out;
  size_t end = kMaxText;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  return out.substr(0, end);
}

}  // namespace

LinkHistory::LinkHistory(const Sources& sources)
    : path_(sources.once ? "" : Sources::join(sources.state_dir, "links.state")),
      boot_id_(read_line(sources.proc("sys/kernel/random/boot_id")).value_or(std::string())),
      state_(sources.state),
      log_(sources.log.with_component("state")) {
  if (path_.empty()) return;
  const std::string text = load_boot_state(path_, boot_id_);
  std::string_view rest = text, line;
  while (next_line(rest, line)) {
    const std::string device(next_word(line));
    if (const auto speed = to_number(next_word(line)); speed && *speed > 0) seen_[device] = *speed;
  }
}

double LinkHistory::see(const std::string& device, double speed) {
  const auto found = seen_.find(device);
  const double before = found == seen_.end() ? 0 : found->second;
  if (!(speed > before)) return before;
  seen_[device] = speed;
  changed_ = true;
  return speed;
}

void LinkHistory::keep() {
  if (!changed_ || path_.empty()) return;
  changed_ = false;
  std::string text;
  for (const auto& [device, speed] : seen_) text += device + '\t' + format_float(speed) + '\n';
  state_->note(save_boot_state(path_, boot_id_, text), log_);
}

std::vector<LldpNeighbour> parse_lldp(std::string_view text) {
  std::map<std::string, LldpNeighbour, std::less<>> found;
  std::string_view line;
  while (next_line(text, line)) {
    const size_t equals = line.find('=');
    if (line.substr(0, 5) != "lldp." || equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(5, equals - 5), value = line.substr(equals + 1);
    const auto take = [&, key = key, value = value](std::string_view end,
                                                    std::string LldpNeighbour::*field) {
      if (key.size() <= end.size() || key.substr(key.size() - end.size()) != end) return;
      const std::string_view device = key.substr(0, key.size() - end.size());
      if (found.size() >= kMaxNeighbours && found.find(device) == found.end()) return;
      LldpNeighbour& neighbour = found[std::string(device)];
      if ((neighbour.*field).empty()) neighbour.*field = bounded(value);
    };
    take(".chassis.name", &LldpNeighbour::chassis);
    take(".chassis.mac", &LldpNeighbour::chassis);
    take(".port.ifname", &LldpNeighbour::port);
    take(".port.local", &LldpNeighbour::port);
    take(".port.descr", &LldpNeighbour::description);
  }
  std::vector<LldpNeighbour> out;
  for (auto& [device, neighbour] : found) {
    neighbour.device = device;
    out.push_back(std::move(neighbour));
  }
  return out;
}

}  // namespace vagt::agent

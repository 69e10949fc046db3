#include <charconv>
#include <cmath>

#include "node-agent/gpu/smi.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

std::string_view without_brackets(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '[' && cell.back() == ']')
    cell = cell.substr(1, cell.size() - 2);
  return cell;
}

}  // namespace

std::optional<double> smi_number(std::string_view cell) {
  std::string_view rest = without_brackets(cell);
  std::string_view word = next_word(rest);
  if (word == "Yes") return 1;
  if (word == "No") return 0;
  if (word.substr(0, 2) == "0x" || word.substr(0, 2) == "0X") {
    uint64_t value = 0;
    word.remove_prefix(2);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return static_cast<double>(value);
  }
  if (word.size() > 1 && word.back() == 'x') word.remove_suffix(1);
  if (word.size() > 1 && word.front() == 'P') word.remove_prefix(1);
  const auto value = to_number(word);
  if (!value || !std::isfinite(*value)) return std::nullopt;  // "N/A" must not become a NaN
  // Values no card has: unsigned sentinels of the driver.
  if (*value >= 4294967295.0 && (*value == 4294967295.0 || *value >= 1.8446744073709551e19))
    return std::nullopt;
  return value;
}

std::optional<double> smi_recovery_action(std::string_view text) {
  text = without_brackets(text);
  if (text == "None") return 0;
  if (text == "Reset" || text == "GPU Reset") return 1;
  if (text == "Reboot" || text == "Node Reboot") return 2;
  if (text == "Drain P2P") return 3;
  if (text == "Drain and Reset") return 4;
  return std::nullopt;
}

int smi_error(std::string_view cell) {
  cell = without_brackets(cell);
  if (cell == "GPU is lost") return kGpuIsLost;
  if (cell == "GPU requires reset") return kGpuResetRequired;
  if (cell == "Unknown Error" || cell == "ERR!") return kGpuUnknownError;
  return kGpuOk;
}

std::string smi_text(std::string_view cell) {
  cell = without_brackets(cell);
  const bool none = cell == "N/A" || cell == "Not Supported" || cell == "Unknown Error" ||
                    cell == "ERR!" || cell == "GPU is lost" || cell == "Insufficient Permissions" ||
                    cell == "Requested functionality has been deprecated";
  return std::string(none ? std::string_view() : cell);
}

}  // namespace vagt::agent

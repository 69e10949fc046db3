#include "node-agent/kernel_log/record.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/labels.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

// Takes a decimal number up to `end` off `rest`.
std::optional<uint64_t> take_number(std::string_view& rest, char end) {
  const size_t at = rest.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = to_uint(rest.substr(0, at));
  rest.remove_prefix(at + 1);
  return number;
}

constexpr std::array<std::string_view, 8> kLevels = {"emerg", "alert",  "crit", "err",
                                                     "warn",  "notice", "info", "debug"};

// `kern  :warn  : ` before the time; false: `line` does not begin so.
bool take_decoded_level(std::string_view& line, LogRecord& record) {
  const size_t first = line.find(':');
  if (first > 10) return false;  // nor is there any
  const size_t second = line.find(':', first + 1);
  if (second == std::string_view::npos) return false;
  const std::string_view facility = trim(line.substr(0, first));
  const std::string_view level = trim(line.substr(first + 1, second - first - 1));
  const auto known = std::find(kLevels.begin(), kLevels.end(), level);
  if (known == kLevels.end()) return false;
  record.facility = facility == "kern" ? 0 : 1;
  record.priority = static_cast<int>(known - kLevels.begin());
  line = trim(line.substr(second + 1));
  return true;
}

}  // namespace

std::optional<LogRecord> parse_kmsg(std::string_view text, Timestamp boot) {
  LogRecord record;
  const auto prefix = take_number(text, ','), sequence = take_number(text, ','),
             microseconds = take_number(text, ',');
  const size_t semicolon = text.find(';');
  if (!prefix || !sequence || !microseconds || semicolon == std::string_view::npos)
    return std::nullopt;
  record.priority = static_cast<int>(*prefix & 7);
  record.facility = static_cast<int>(*prefix >> 3);
  record.sequence = sequence;
  record.at = boot + std::chrono::duration_cast<Duration>(
                         std::chrono::microseconds(std::min<uint64_t>(*microseconds, 1ULL << 60)));
  text.remove_prefix(semicolon + 1);
  record.text = text.substr(0, text.find('\n'));
  return record;
}

std::optional<LogRecord> parse_dmesg(std::string_view line) {
  LogRecord record;
  take_decoded_level(line, record);
  std::string_view rest = line;
  std::string time(next_word(rest));
  std::replace(time.begin(), time.end(), ',', '.');
  const auto at = parse_rfc3339(time);
  if (!at) return std::nullopt;
  record.at = *at;
  record.text = trim(rest);
  return record;
}

std::string clean_message(std::string_view text) {
  constexpr size_t kMax = 200;
  std::string out;
  for (const char c : text.substr(0, kMax))
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) out += c;
  while (!out.empty() && text.size() > kMax && !is_valid_utf8(out)) out.pop_back();
  return out;
}

}  // namespace vagt::agent

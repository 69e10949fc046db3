#include "node-agent/kernel_log/journal.h"

#include "node-agent/sources.h"

namespace vagt::agent {

// `NAME=value`, or `NAME`, then eight bytes of length (little-endian), the bytes and a newline.
bool JournalReader::take_field(std::string_view& name, std::string_view& value) {
  std::string_view line;
  if (!next_line(rest_, line)) return false;
  name = line;
  value = {};
  const size_t equals = line.find('=');
  if (line.empty() || equals != std::string_view::npos) {
    name = line.substr(0, equals);
    if (equals != std::string_view::npos) value = line.substr(equals + 1);
    return true;
  }
  if (rest_.size() < 8) {
    rest_ = {};
    return false;
  }
  uint64_t size = 0;
  for (size_t i = 8; i-- > 0;) size = size << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(8);
  if (size > rest_.size()) {
    rest_ = {};
    return false;
  }
  value = rest_.substr(0, size);
  rest_.remove_prefix(std::min<size_t>(rest_.size(), size + 1));
  return true;
}

std::optional<LogRecord> JournalReader::next() {
  LogRecord record;
  bool has_message = false;
  std::string_view name, value;
  while (take_field(name, value)) {
    if (name.empty()) {  // a blank line ends an entry
      if (has_message) return record;
      continue;
    }
    if (name == "__CURSOR") cursor_ = value;
    if (name == "PRIORITY") record.priority = static_cast<int>(to_uint(value).value_or(6) & 7);
    if (name == "SYSLOG_FACILITY") record.facility = static_cast<int>(to_uint(value).value_or(1));
    if (name == "__REALTIME_TIMESTAMP")
      record.at = from_millis(static_cast<int64_t>(to_uint(value).value_or(0) / 1000));
    if (name == "MESSAGE") {
      record.text = value;
      has_message = true;
    }
  }
  return has_message ? std::optional(record) : std::nullopt;
}

}  // namespace vagt::agent

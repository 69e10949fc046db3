// Kernel-log records out of `journalctl --output export`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "node-agent/kernel_log/record.h"

namespace vagt::agent {

class JournalReader {
 public:
  // `text` outlives the reader and its records.
  explicit JournalReader(std::string_view text) : rest_(text) {}
  // The next entry with a message; nullopt at the end. Binary fields are skipped.
  std::optional<LogRecord> next();
  // Of the last entry read; "" before the first.
  const std::string& cursor() const { return cursor_; }

 private:
  bool take_field(std::string_view& name, std::string_view& value);
  std::string_view rest_;
  std::string cursor_;
};

}  // namespace vagt::agent

// Logging: a constant message plus key=value pairs, one line each, as logfmt or JSON.
#pragma once

#include <fmt/core.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace vagt::base {

enum class LogLevel : uint8_t { Debug, Info, Warn, Error };
enum class LogFormat : uint8_t { Logfmt, Json };
Result<LogLevel> parse_log_level(std::string_view text);

// One key=value pair. Anything fmt can print is a value; a Secret is not, on purpose.
struct LogField {
  std::string_view key;
  std::string value;
  template <class T>
  LogField(std::string_view k, const T& v) : key(k), value(fmt::format("{}", v)) {}
};

// A component's logger; cheap to copy. The default-constructed one drops everything (tests).
class Logger {
 public:
  Logger() = default;
  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view message,
            std::initializer_list<LogField> fields = {}) const;  // lifecycle
  void warn(std::string_view message,
            std::initializer_list<LogField> fields = {}) const;  // degraded
  void error(std::string_view message,
             std::initializer_list<LogField> fields = {}) const;  // someone must act
  Logger with_component(std::string_view component) const;

 private:
  friend Logger make_stderr_logger(LogLevel level, LogFormat format);
  struct Impl;
  void write(LogLevel level, std::string_view message,
             std::initializer_list<LogField> fields) const;
  std::shared_ptr<Impl> impl_;
  std::string component_;
};

// Writes to standard error. One per process, made in main.
Logger make_stderr_logger(LogLevel level, LogFormat format);

}  // namespace vagt::base

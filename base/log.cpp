#include "base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/json_writer.h"
#include "base/labels.h"
#include "base/time.h"

namespace vagt::base {
namespace {

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warn:
      return "warn";
    case LogLevel::Error:
      return "error";
  }
  return "error";
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warn:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Always three digits of milliseconds, so that lines align and sort.
std::string timestamp() {
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const std::string whole = format_rfc3339(std::chrono::floor<std::chrono::seconds>(now));
  const int64_t millis = to_millis(now) % 1000;
  return fmt::format("{}.{:03}Z", std::string_view(whole).substr(0, 19), millis);
}

bool needs_quotes(std::string_view value) {
  if (value.empty()) return true;
  for (const char c : value)
    if (static_cast<unsigned char>(c) <= ' ' || c == '=' || c == '"' || c == '\\' || c == 0x7F)
      return true;
  return !is_valid_utf8(value);
}

void append_logfmt(std::string& line, std::string_view key, std::string_view value) {
  if (!line.empty()) line += ' ';
  line += key;
  line += '=';
  if (needs_quotes(value)) {
    line += quote(value);
  } else {
    line += value;
  }
}

std::string logfmt_line(LogLevel level, std::string_view component, std::string_view message,
                        std::initializer_list<LogField> fields) {
  std::string line;
  append_logfmt(line, "ts", timestamp());
  append_logfmt(line, "level", level_name(level));
  if (!component.empty()) append_logfmt(line, "component", component);
  line += " msg=" + quote(message);
  for (const LogField& field : fields) append_logfmt(line, field.key, field.value);
  return line;
}

std::string json_line(LogLevel level, std::string_view component, std::string_view message,
                      std::initializer_list<LogField> fields) {
  std::string line;
  JsonWriter w(line);
  w.begin_object().key("ts").string(timestamp()).key("level").string(level_name(level));
  if (!component.empty()) w.key("component").string(component);
  w.key("msg").string(message);
  for (const LogField& field : fields) w.key(field.key).string(field.value);
  w.end_object();
  return line;
}

}  // namespace

struct Logger::Impl {
  Impl(LogLevel lowest, LogFormat line_format)
      : format(line_format), sink("vagt", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    sink.set_pattern("%v");
    sink.set_level(spdlog_level(lowest));
  }
  LogFormat format;
  spdlog::logger sink;
};

Result<LogLevel> parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::Debug;
  if (text == "info") return LogLevel::Info;
  if (text == "warn") return LogLevel::Warn;
  if (text == "error") return LogLevel::Error;
  return Status::invalid(
      fmt::format("unrecognized log level {}: want debug, info, warn or error", text));
}

void Logger::debug(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Debug, message, fields);
}

void Logger::info(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Info, message, fields);
}

void Logger::warn(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Warn, message, fields);
}

void Logger::error(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Error, message, fields);
}

Logger Logger::with_component(std::string_view component) const {
  Logger copy = *this;
  copy.component_ = component;
  return copy;
}

void Logger::write(LogLevel level, std::string_view message,
                   std::initializer_list<LogField> fields) const {
  if (impl_ == nullptr || !impl_->sink.should_log(spdlog_level(level))) return;
  const std::string line = impl_->format == LogFormat::Json
                               ? json_line(level, component_, message, fields)
                               : logfmt_line(level, component_, message, fields);
  impl_->sink.log(spdlog_level(level), line);
}

Logger make_stderr_logger(LogLevel level, LogFormat format) {
  Logger logger;
  logger.impl_ = std::make_shared<Logger::Impl>(level, format);
  return logger;
}

}  // namespace vagt::base

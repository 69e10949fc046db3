// Lines that begin with a hash: HELP, TYPE, UNIT, the end of an OpenMetrics page, and mere
// comments.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/labels.h"
#include "exposition/chars.h"
#include "exposition/parse.h"

namespace vagt::exposition {
namespace {

std::string_view kind_word(EntryKind kind) {
  return kind == EntryKind::Help ? "HELP" : kind == EntryKind::Type ? "TYPE" : "UNIT";
}

// nullopt: the format has no such type.
std::optional<MetricType> type_from_text(std::string_view text, bool open_metrics) {
  if (text == "counter") return MetricType::Counter;
  if (text == "gauge") return MetricType::Gauge;
  if (text == "histogram") return MetricType::Histogram;
  if (text == "summary") return MetricType::Summary;
  if (!open_metrics) {
    return text == "untyped" ? std::optional(MetricType::Unknown) : std::nullopt;
  }
  if (text == "gaugehistogram") return MetricType::GaugeHistogram;
  if (text == "info") return MetricType::Info;
  if (text == "stateset") return MetricType::StateSet;
  if (text == "unknown") return MetricType::Unknown;
  return std::nullopt;
}

bool is_unit_suffix(std::string_view metric, std::string_view unit) {
  return unit.empty() || (metric.size() > unit.size() && metric.ends_with(unit) &&
                          metric[metric.size() - unit.size() - 1] == '_');
}

std::string_view without_cr(std::string_view text) {
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace

bool Parser::read_comment() {
  const char* line = at_++;
  const bool blank_follows = at_ != end_ && (open_metrics() ? *at_ == ' ' : is_blank(*at_));
  if (blank_follows) {
    ++at_;
    skip_blanks();
    for (const EntryKind kind : {EntryKind::Help, EntryKind::Type, EntryKind::Unit}) {
      if (kind == EntryKind::Unit && !open_metrics()) continue;
      const std::string_view left = rest();
      if (left.size() > 4 && left.starts_with(kind_word(kind)) &&
          (left[4] == ' ' || (!open_metrics() && left[4] == '\t'))) {
        at_ += 5;
        return read_metadata(kind, line);
      }
    }
  }
  if (open_metrics()) {
    if (!blank_follows || !rest().starts_with("EOF")) {
      return fail("expected a valid start token", line, at_);
    }
    at_ += 3;
    if (at_ != end_ && *at_ == '\n') ++at_;
    saw_eof_ = true;
    return next();  // the end, or a complaint about what follows; no deeper than this
  }
  const char* stop = static_cast<const char*>(memchr(at_, '\n', static_cast<size_t>(end_ - at_)));
  if (stop == nullptr) stop = end_;
  entry_.kind = EntryKind::Comment;
  entry_.text = {line, static_cast<size_t>(stop - line)};
  if (entry_.text.ends_with('\r')) ++warnings_.crlf_lines;
  at_ = stop == end_ ? stop : stop + 1;
  return true;
}

bool Parser::read_metadata(EntryKind kind, const char* line) {
  entry_.kind = kind;
  skip_blanks();
  if (at_ != end_ && *at_ == '"') {
    if (!read_quoted(entry_.raw_name, entry_.name_has_escapes)) {
      return fail(fmt::format("expected metric name after {}", kind_word(kind)), line, at_);
    }
  } else if (at_ != end_ && is_name_start(*at_)) {
    const char* name = at_;
    while (at_ != end_ && is_name_char(*at_)) ++at_;
    entry_.raw_name = {name, static_cast<size_t>(at_ - name)};
  } else {
    return fail(fmt::format("expected metric name after {}", kind_word(kind)), line, at_);
  }
  return read_metadata_text(kind, line);
}

// As Prometheus's lexer has it: the text is the rest of the line less its first byte, whatever that
// is; only blanks are no text.
bool Parser::read_metadata_text(EntryKind kind, const char* line) {
  const char* stop = static_cast<const char*>(memchr(at_, '\n', static_cast<size_t>(end_ - at_)));
  if (stop == nullptr) stop = end_;
  std::string_view text(at_, static_cast<size_t>(stop - at_));
  if (open_metrics()) {
    if (!text.starts_with(' ') || stop == end_) {
      return fail(fmt::format("expected text in {}", kind_word(kind)), line, at_);
    }
  } else {
    if (text.ends_with('\r')) ++warnings_.crlf_lines;
    text = without_cr(text);
    if (std::all_of(text.begin(), text.end(), is_blank)) text = {};
  }
  entry_.text = {line, static_cast<size_t>(stop - line)};
  entry_.rest = text.empty() ? text : text.substr(1);
  if (kind == EntryKind::Type) {
    const auto type = type_from_text(entry_.rest, open_metrics());
    if (!type) return fail(fmt::format("invalid metric type {}", quote(entry_.rest)), line, at_);
    entry_.type = *type;
  } else if (kind == EntryKind::Unit && !is_unit_suffix(entry_.raw_name, entry_.rest)) {
    return fail(fmt::format("unit {} not a suffix of metric {}", quote(entry_.rest),
                            quote(entry_.raw_name)),
                line, at_);
  } else if (kind == EntryKind::Help && !is_valid_utf8(entry_.rest)) {
    return fail(fmt::format("help text {} is not a valid utf8 string", quote(entry_.rest)), line,
                at_);
  }
  at_ = stop == end_ ? stop : stop + 1;
  return true;
}

}  // namespace vagt::exposition

#include "exposition/parse.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/labels.h"

namespace vagt::exposition {
namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
}
bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }
bool is_label_start(char c) { return is_name_start(c) && c != ':'; }
bool is_label_char(char c) { return is_name_char(c) && c != ':'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

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

std::string_view metric_type_name(MetricType type) {
  switch (type) {
    case MetricType::Unknown:
      return "unknown";
    case MetricType::Counter:
      return "counter";
    case MetricType::Gauge:
      return "gauge";
    case MetricType::Histogram:
      return "histogram";
    case MetricType::GaugeHistogram:
      return "gaugehistogram";
    case MetricType::Summary:
      return "summary";
    case MetricType::Info:
      return "info";
    case MetricType::StateSet:
      return "stateset";
  }
  return "unknown";
}

void unescape(std::string_view raw, std::string& out) {
  for (size_t i = 0; i < raw.size(); ++i) {
    const bool pair = raw[i] == '\\' && i + 1 < raw.size();
    if (pair && raw[i + 1] == 'n') {
      out.push_back('\n'), ++i;
    } else if (pair && (raw[i + 1] == '\\' || raw[i + 1] == '"')) {
      out.push_back(raw[++i]);
    } else {
      out.push_back(raw[i]);
    }
  }
}

Parser::Parser(std::string_view body, Format format)
    : begin_(body.data()), at_(begin_), end_(begin_ + body.size()), format_(format) {}

bool Parser::fail(std::string_view what, const char* line, const char* at) {
  constexpr ptrdiff_t kShown = 120;  // bytes of the line before the fault
  const char* shown_end = at < end_ ? at + 1 : end_;
  const char* from = std::max(line, shown_end - kShown);
  const auto number = std::count(begin_, line, '\n') + 1;
  std::string text = fmt::format("line {}: {}", number, what);
  if (what.starts_with("expected")) {
    const std::string got = at < end_ ? quote({at, 1}) : std::string("end of input");
    text += fmt::format(", got {}", got);
  }
  text += fmt::format(" while parsing: {}", quote({from, static_cast<size_t>(shown_end - from)}));
  const char first = begin_ != end_ ? *begin_ : '\0';
  if (number == 1 && first == '"')
    text += " (the page looks JSON-quoted: it begins with a double quote)";
  if (number == 1 && first == '<') text += " (the page looks like HTML)";
  status_ = Status::invalid(std::move(text));
  return false;
}

void Parser::skip_blanks() {
  if (open_metrics()) return;
  while (at_ != end_ && is_blank(*at_)) ++at_;
}

bool Parser::next() {
  if (!status_.ok()) return false;
  entry_ = Entry{};
  if (open_metrics()) {
    if (at_ == end_) return saw_eof_ ? false : fail("data does not end with # EOF", at_, at_);
    if (saw_eof_) return fail("unexpected data after # EOF", at_, at_);
  }
  const char* line = at_;
  while (!open_metrics()) {
    skip_blanks();
    if (at_ == end_) return false;
    if (*at_ == '\r' && at_ + 1 != end_ && at_[1] == '\n') ++at_, ++warnings_.crlf_lines;
    if (*at_ != '\n') break;
    line = ++at_;
  }
  if (*at_ == '#') return read_comment();
  if (*at_ == '{' || is_name_start(*at_)) return read_series();
  return fail("expected a valid start token", line, at_);
}

bool Parser::skip_line(size_t bytes) {
  const char* behind = at_ + bytes;
  if (behind > end_ || (behind != end_ && *behind != '\n') || (behind == end_ && open_metrics())) {
    return false;
  }
  at_ = behind == end_ ? behind : behind + 1;
  return true;
}

bool Parser::next_known_series(size_t bytes) {
  if (!status_.ok()) return false;
  const char* line = at_;
  const Warnings warnings = warnings_;
  entry_.kind = EntryKind::Sample;
  entry_.text = {at_, bytes};
  entry_.raw_name = {};
  entry_.labels = {};
  entry_.has_timestamp = entry_.has_exemplar = false;
  at_ += bytes;
  if (read_tail(line)) return true;
  status_ = Status();
  warnings_ = warnings;
  at_ = line;
  return next();
}

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

bool Parser::read_series() {
  const char* line = at_;
  entry_.kind = EntryKind::Sample;
  labels_.clear();
  while (at_ != end_ && is_name_char(*at_)) ++at_;
  entry_.raw_name = {line, static_cast<size_t>(at_ - line)};
  const char* series_end = at_;
  skip_blanks();
  if (at_ != end_ && *at_ == '{') {
    if (!read_braces(labels_, true, line)) return false;
    series_end = at_;
  } else {
    at_ = series_end;
  }
  entry_.text = {line, static_cast<size_t>(series_end - line)};
  entry_.labels = labels_;
  if (entry_.raw_name.empty()) return fail("metric name not set", line, at_);
  return read_tail(line);
}

bool Parser::read_braces(std::vector<RawLabel>& labels, bool may_name, const char* line) {
  ++at_;
  for (;;) {
    skip_blanks();
    if (at_ != end_ && *at_ == '}') break;
    RawLabel label;
    const bool quoted = at_ != end_ && *at_ == '"';
    if (quoted) {
      if (!read_quoted(label.raw_name, label.name_has_escapes)) {
        return fail("expected label name", line, at_);
      }
    } else if (at_ != end_ && is_label_start(*at_)) {
      const char* name = at_;
      while (at_ != end_ && is_label_char(*at_)) ++at_;
      label.raw_name = {name, static_cast<size_t>(at_ - name)};
    } else {
      return fail("expected label name", line, at_);
    }
    skip_blanks();
    const char follows = at_ != end_ ? *at_ : '\0';
    if (quoted && may_name && (follows == ',' || follows == '}')) {
      if (!entry_.raw_name.empty()) return fail("metric name already set", line, at_);
      entry_.raw_name = label.raw_name;
      entry_.name_has_escapes = label.name_has_escapes;
      if (follows == '}') break;
      ++at_;
      continue;
    }
    if (follows != '=') return fail("expected equal", line, at_);
    ++at_;
    if (!read_label_value(label, line)) return false;
    labels.push_back(label);
    skip_blanks();
    const char then = at_ != end_ ? *at_ : '\0';
    if (then == ',') {
      ++at_;
    } else if (open_metrics() && then != '}') {
      return fail("expected comma or brace close", line, at_);
    }
  }
  ++at_;
  return true;
}

bool Parser::read_label_value(RawLabel& label, const char* line) {
  skip_blanks();
  if (at_ == end_ || *at_ != '"' || !read_quoted(label.raw_value, label.value_has_escapes)) {
    return fail("expected label value", line, at_);
  }
  if (!is_valid_utf8(label.raw_value)) {
    return fail(fmt::format("invalid UTF-8 label value: {}", quote(label.raw_value)), line, at_);
  }
  return true;
}

// At a double quote. A raw line end may stand inside quotes in the text formats, not in
// OpenMetrics. False: no closing quote; the position stays on the opening one.
bool Parser::read_quoted(std::string_view& raw, bool& has_escapes) {
  const char* p = at_ + 1;
  for (; p != end_ && *p != '"'; ++p) {
    if (*p == '\n' && open_metrics()) return false;
    if (*p != '\\') continue;
    has_escapes = true;
    if (++p == end_ || *p == '\n') return false;
  }
  if (p == end_) return false;
  raw = {at_ + 1, static_cast<size_t>(p - at_ - 1)};
  at_ = p + 1;
  return true;
}

}  // namespace vagt::exposition

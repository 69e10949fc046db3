#include "exposition/parse.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/labels.h"
#include "exposition/chars.h"

namespace vagt::exposition {

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

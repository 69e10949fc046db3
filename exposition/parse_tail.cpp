// What follows a series on its line: value, timestamp, exemplar.
#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/labels.h"
#include "base/number_text.h"
#include "base/sample.h"
#include "exposition/chars.h"
#include "exposition/number.h"
#include "exposition/parse.h"

namespace vagt::exposition {
namespace {

// C's printf writes the sign of a NaN.
bool is_signed_nan(std::string_view word) {
  return word.size() == 4 && (word[0] == '-' || word[0] == '+') && (word[1] | 0x20) == 'n' &&
         (word[2] | 0x20) == 'a' && (word[3] | 0x20) == 'n';
}

}  // namespace

bool Parser::read_tail(const char* line) {
  // The common case: one space, a short decimal, the line's end.
  if (at_ != end_ && *at_ == ' ') {
    const char* behind = read_simple_number(at_ + 1, end_, entry_.value);
    if (behind != nullptr && behind != end_ && *behind == '\n') {
      at_ = behind + 1;
      return true;
    }
  }
  return open_metrics() ? read_open_metrics_tail(line) : read_text_tail(line);
}

bool Parser::read_value(double& value, std::string_view word, const char* line) {
  const char* last = word.data() + word.size() - 1;
  if (is_signed_nan(word) && !open_metrics()) {
    value = normal_nan();
    ++warnings_.signed_nans;
    return true;
  }
  const FloatResult read =
      is_signed_nan(word) ? FloatResult{0, FloatFault::Syntax} : read_float(word);
  switch (read.fault) {
    case FloatFault::None:
      value = std::isnan(read.value) ? normal_nan() : read.value;
      return true;
    case FloatFault::Character:
      return fail("unsupported character in float", line, last);
    case FloatFault::Range:
      return fail(fmt::format("strconv.ParseFloat: parsing {}: value out of range", quote(word)),
                  line, last);
    case FloatFault::Syntax:
      return fail(fmt::format("strconv.ParseFloat: parsing {}: invalid syntax", quote(word)), line,
                  last);
  }
  return false;
}

bool Parser::read_text_tail(const char* line) {
  skip_blanks();
  const char* word = at_;
  while (at_ != end_ && !is_blank(*at_) && *at_ != '\n' && *at_ != '{') ++at_;
  // The CR of a CR LF ends the word too.
  if (at_ != word && at_[-1] == '\r' && (at_ == end_ || *at_ == '\n')) --at_;
  if (at_ == word) return fail("expected value after metric", line, at_);
  if (!read_value(entry_.value, {word, static_cast<size_t>(at_ - word)}, line)) return false;
  skip_blanks();
  if (at_ == end_ || !is_digit(*at_)) return end_line("expected timestamp or new record", line);
  const char* digits = at_;
  while (at_ != end_ && is_digit(*at_)) ++at_;
  const auto read = std::from_chars(digits, at_, entry_.timestamp_ms);
  if (read.ec != std::errc()) {
    return fail(fmt::format("strconv.ParseInt: parsing {}: value out of range",
                            quote({digits, static_cast<size_t>(at_ - digits)})),
                line, at_);
  }
  entry_.has_timestamp = true;
  skip_blanks();
  return end_line("expected next entry after timestamp", line);
}

bool Parser::end_line(std::string_view expected, const char* line) {
  if (at_ != end_ && *at_ == '\r' && !open_metrics() && (at_ + 1 == end_ || at_[1] == '\n')) {
    ++at_;
    ++warnings_.crlf_lines;
  }
  if (at_ == end_) return open_metrics() ? fail("data does not end with # EOF", line, at_) : true;
  if (*at_ != '\n') return fail(expected, line, at_);
  ++at_;
  return true;
}

std::string_view Parser::word() const {
  const char* p = at_;
  while (p != end_ && *p != ' ' && *p != '\n') ++p;
  return {at_, static_cast<size_t>(p - at_)};
}

bool Parser::read_float_timestamp(int64_t& ms, std::string_view what, const char* line) {
  const std::string_view text = word();
  double seconds = 0;
  if (!read_value(seconds, text, line)) return false;
  constexpr double kMaxSeconds = 9e15;  // int64 milliseconds
  if (!std::isfinite(seconds) || std::fabs(seconds) > kMaxSeconds) {
    return fail(fmt::format("invalid {} {}", what, format_float(seconds)), line, at_);
  }
  ms = static_cast<int64_t>(seconds * 1000);
  at_ += text.size();
  return true;
}

bool Parser::read_open_metrics_tail(const char* line) {
  if (at_ == end_ || *at_ != ' ') return fail("expected value after metric", line, at_);
  ++at_;
  const std::string_view value = word();
  if (value.empty()) return fail("expected value after metric", line, at_);
  if (!read_value(entry_.value, value, line)) return false;
  at_ += value.size();
  if (rest().starts_with(" # {")) return read_exemplar(line);
  if (at_ != end_ && *at_ == ' ') {
    ++at_;
    if (word().empty()) return fail("expected timestamp or new record", line, at_);
    if (!read_float_timestamp(entry_.timestamp_ms, "timestamp", line)) return false;
    entry_.has_timestamp = true;
    if (rest().starts_with(" # {")) return read_exemplar(line);
    return end_line("expected next entry after timestamp", line);
  }
  return end_line("expected timestamp or new record", line);
}

bool Parser::read_exemplar(const char* line) {
  exemplar_ = Exemplar{std::string_view(), std::move(exemplar_.labels), 0, 0, false};
  exemplar_.labels.clear();
  at_ += 3;
  const char* from = at_;
  if (!read_braces(exemplar_.labels, false, line)) return false;
  exemplar_.text = {from, static_cast<size_t>(at_ - from)};
  if (at_ == end_ || *at_ != ' ') return fail("expected value after exemplar labels", line, at_);
  ++at_;
  const std::string_view value = word();
  if (value.empty()) return fail("expected value after exemplar labels", line, at_);
  if (!read_value(exemplar_.value, value, line)) return false;
  at_ += value.size();
  if (at_ != end_ && *at_ == ' ') {
    ++at_;
    if (!read_float_timestamp(exemplar_.timestamp_ms, "exemplar timestamp", line)) return false;
    exemplar_.has_timestamp = true;
  }
  entry_.has_exemplar = true;
  return end_line("expected next entry after exemplar", line);
}

}  // namespace vagt::exposition

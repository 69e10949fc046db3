// The notation of input series: names with labels, and values that repeat and grow.
#include <fmt/core.h>

#include "base/number_text.h"
#include "base/sample.h"
#include "rules/test_file.h"
#include "template/parser.h"

namespace vagt::rules {
namespace {

constexpr size_t kMaxValues = 10'000'000;

class SeriesReader {
 public:
  explicit SeriesReader(std::string_view text) : text_(text) {}

  Result<Labels> run() {
    Labels::Pairs pairs;
    skip();
    if (const std::string name = word(); !name.empty()) pairs.emplace_back(kMetricName, name);
    skip();
    if (accept('{')) {
      while (skip(), !accept('}')) {
        VAGT_CHECK_OK(pair(pairs));
        skip();
        if (accept(',')) continue;
        skip();
        if (!accept('}'))
          return fail(fmt::format("unexpected {} in label set, expected \",\" or \"}}\"", here()));
        break;
      }
    }
    skip();
    if (at_ != text_.size()) return fail("unexpected " + here());
    return Labels::make(std::move(pairs));
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
  }
  bool accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string here() const {
    return at_ < text_.size() ? fmt::format("character: '{}'", text_[at_])
                              : std::string("end of input");
  }
  Status fail(std::string_view message) const {
    return Status::invalid(fmt::format("1:{}: parse error: {}", at_ + 1, message));
  }
  std::string word() {
    const size_t begin = at_;
    const auto inside = [](char c) {
      return c == '_' || c == ':' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    };
    while (at_ < text_.size() && inside(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  Result<std::string> quoted() {
    const char mark = at_ < text_.size() ? text_[at_] : '\0';
    if (mark != '"' && mark != '\'' && mark != '`')
      return fail(fmt::format("unexpected {}, expected string", here()));
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != mark)
      end += text_[end] == '\\' && mark != '`' ? 2 : 1;
    if (end >= text_.size()) return fail("unterminated quoted string");
    std::string out;
    if (!tmpl::unquote(text_.substr(at_, end + 1 - at_), out)) return fail("invalid string");
    at_ = end + 1;
    return out;
  }
  Status pair(Labels::Pairs& pairs) {
    std::string name = word();
    if (name.empty()) {
      VAGT_TRY(name, quoted());
      skip();
      if (at_ >= text_.size() || text_[at_] != '=') {
        pairs.emplace_back(kMetricName, name);  // {"metric name"}
        return {};
      }
    }
    skip();
    if (!accept('='))
      return fail(fmt::format("unexpected {} in label set, expected \"=\"", here()));
    skip();
    VAGT_TRY(std::string value, quoted());
    pairs.emplace_back(std::move(name), std::move(value));
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
};

// The end of the number at `from`: up to a sign or an x that belong to the notation (0x10 is ten
// more zeros).
size_t number_end(std::string_view item, size_t from) {
  size_t i = from;
  if (i < item.size() && (item[i] == '+' || item[i] == '-')) ++i;
  for (; i < item.size(); ++i) {
    const char c = item[i];
    const bool exponent = i > from && (item[i - 1] == 'e' || item[i - 1] == 'E');
    if (((c == '+' || c == '-') && !exponent) || c == 'x') break;
  }
  return i;
}

Status bad_value(std::string_view item) {
  return Status::invalid("parse error: unexpected " + quote(item) + " in series values");
}

Result<size_t> repetitions(std::string_view text, std::string_view item) {
  const auto n = parse_int(text);
  if (!n || *n < 0) return bad_value(item);
  if (static_cast<uint64_t>(*n) > kMaxValues)
    return Status(Code::LimitExceeded, "too many values: " + quote(item));
  return static_cast<size_t>(*n);
}

Status expand(std::string_view item, SeriesValues& out) {
  if (item.starts_with("{{")) {
    return Status::invalid("native histogram samples are not supported: " + quote(item));
  }
  if (item == "stale") return out.push_back(stale_marker()), Status();
  if (item == "_") return out.push_back(std::nullopt), Status();
  if (item.starts_with("_x")) {
    VAGT_TRY(const size_t n, repetitions(item.substr(2), item));
    out.insert(out.end(), n, std::nullopt);
    return {};
  }
  const size_t end = number_end(item, 0);
  const auto first = parse_float(item.substr(0, end));
  if (!first) return bad_value(item);
  if (end == item.size()) return out.push_back(*first), Status();
  double step = 0;
  size_t x = end;
  if (item[end] != 'x') {
    x = number_end(item, end);
    const auto grows = parse_float(item.substr(end, x - end));
    if (!grows || x >= item.size()) return bad_value(item);
    step = *grows;
  }
  VAGT_TRY(const size_t n, repetitions(item.substr(x + 1), item));
  // Added up one by one, as promtool does: the rounding is part of the expectation.
  double value = *first;
  for (size_t i = 0; i <= n; ++i) {
    out.push_back(value);
    value += step;
  }
  return {};
}

}  // namespace

Result<Labels> parse_series(std::string_view text) { return SeriesReader(text).run(); }

Result<SeriesValues> parse_values(std::string_view text) {
  SeriesValues out;
  size_t at = 0;
  while ((at = text.find_first_not_of(" \t\r\n", at)) != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    VAGT_CHECK_OK(expand(text.substr(at, end - at), out));
    if (out.size() > kMaxValues) return Status(Code::LimitExceeded, "too many values in a series");
    at = end;
  }
  return out;
}

}  // namespace vagt::rules

#include "query/script/series_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/number_text.h"
#include "base/sample.h"
#include "query/parse.h"

namespace vagt::query::script {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where the labels end: behind the closing brace, or behind the name when there are none.
size_t end_of_metric(std::string_view line) {
  size_t pos = 0;
  while (pos < line.size() && !is_blank(line[pos]) && line[pos] != '{' && line[pos] != '@') ++pos;
  size_t brace = pos;
  while (brace < line.size() && is_blank(line[brace])) ++brace;
  const bool braces = brace < line.size() && line[brace] == '{' && line.substr(brace, 2) != "{{";
  if (!braces) return pos;
  char quote = 0;
  for (pos = brace + 1; pos < line.size(); ++pos) {
    const char c = line[pos];
    if (quote != 0) {
      if (c == '\\' && quote != '`')
        ++pos;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'' || c == '`') {
      quote = c;
    } else if (c == '}') {
      return pos + 1;
    }
  }
  return line.size();
}

Result<Labels> parse_labels(std::string_view metric) {
  if (metric.empty()) return Labels();
  VAGT_TRY(const std::vector<Matcher> matchers, parse_metric_selector(metric));
  Labels::Pairs pairs;
  for (const Matcher& m : matchers) {
    if (m.op() != MatchOp::Equal)
      return Status::invalid("a series has labels, not conditions: " + m.to_string());
    pairs.emplace_back(m.name(), m.value());
  }
  return Labels::make(std::move(pairs));
}

// The longest number at `pos`.
std::optional<double> take_number(std::string_view text, size_t& pos) {
  size_t end = pos;
  if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
  const size_t digits = end;
  const auto letters = [&](std::string_view word) {
    if (text.size() - end < word.size()) return false;
    for (size_t i = 0; i < word.size(); ++i)
      if ((text[end + i] | 0x20) != word[i]) return false;
    end += word.size();
    return true;
  };
  if (!letters("inf") && !letters("nan")) {
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.' || text[end] == '_'))
      ++end;
    const size_t mantissa_end = end;
    if (end > digits && end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
      ++end;
      if (end < text.size() && (text[end] == '+' || text[end] == '-')) ++end;
      const size_t exponent = end;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end == exponent) end = mantissa_end;
    }
  }
  std::string word(text.substr(pos, end - pos));
  word.erase(std::remove(word.begin(), word.end(), '_'), word.end());
  const auto value = parse_float(word);
  if (value) pos = end;
  return value;
}

class ValueList {
 public:
  ValueList(SeriesText& out, size_t max_values) : out_(out), max_(max_values) {}

  Status add(std::string_view item) {
    size_t pos = 0;
    if (item[0] == '_') {
      pos = 1;
      VAGT_TRY(const size_t count, repetitions(item, pos, 1));
      return put(std::nullopt, 0, count);
    }
    if (item.substr(0, 5) == "stale") {
      pos = 5;
      VAGT_TRY(const size_t count, repetitions(item, pos, 0));
      return put(stale_marker(), 0, count + 1);
    }
    const auto first = take_number(item, pos);
    if (!first) return bad(item);
    double step = 0;
    if (pos < item.size() && (item[pos] == '+' || item[pos] == '-')) {
      const auto given = take_number(item, pos);
      if (!given) return bad(item);
      step = *given;
    }
    VAGT_TRY(const size_t count, repetitions(item, pos, 0));
    return put(*first, step, count + 1);
  }

 private:
  static Status bad(std::string_view item) {
    return Status::invalid(fmt::format("not a value: {}", quote(item)));
  }

  // `xN` at the end; `otherwise` when there is nothing.
  static Result<size_t> repetitions(std::string_view item, size_t pos, size_t otherwise) {
    if (pos == item.size()) return otherwise;
    const auto count = item[pos] == 'x' ? parse_int(item.substr(pos + 1)) : std::nullopt;
    if (!count || *count < 0) return bad(item);
    return static_cast<size_t>(*count);
  }

  Status put(std::optional<double> value, double step, size_t count) {
    if (count > max_ - std::min(max_, out_.values.size()))
      return Status::invalid(fmt::format("more than {} values in a line", max_));
    for (size_t i = 0; i < count; ++i) {
      out_.values.push_back(value);
      if (value && step != 0) *value += step;
    }
    return {};
  }

  SeriesText& out_;
  const size_t max_;
};

}  // namespace

std::optional<double> parse_number(std::string_view text) {
  size_t pos = 0;
  const auto value = text.empty() ? std::nullopt : take_number(text, pos);
  return value && pos == text.size() ? value : std::nullopt;
}

Result<SeriesText> parse_series(std::string_view line, size_t max_values) {
  SeriesText out;
  size_t pos = end_of_metric(line);
  VAGT_TRY(out.labels, parse_labels(line.substr(0, pos)));
  if (line.substr(pos, 3) == "@st") {
    out.start_timestamps = true;
    return out;
  }
  out.histograms = line.find("{{", pos) != std::string_view::npos;
  if (out.histograms) return out;
  ValueList values(out, max_values);
  while (pos < line.size()) {
    if (is_blank(line[pos])) {
      ++pos;
      continue;
    }
    const size_t end = std::min(line.find_first_of(" \t", pos), line.size());
    VAGT_CHECK_OK(values.add(line.substr(pos, end - pos)));
    pos = end;
  }
  return out;
}

}  // namespace vagt::query::script

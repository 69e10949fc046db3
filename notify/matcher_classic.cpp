#include <string>

#include "notify/matcher_grammar.h"

namespace vagt::notify {
namespace {

constexpr std::string_view kSpace = " \t\n\v\f\r";

std::string_view trim(std::string_view text) {
  const size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

// Splits at commas outside double quotes; a last empty piece is dropped, others are kept.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  bool quoted = false, escaped = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' && !quoted) {
      out.push_back(text.substr(start, i - start));
      start = i + 1;
      continue;
    }
    if (c == '"' && !escaped) quoted = !quoted;
    escaped = c == '\\' ? !escaped : false;
  }
  if (const auto last = trim(text.substr(start)); !last.empty()) out.push_back(last);
  return out;
}

Result<std::string> unquote_value(std::string_view raw) {
  const auto fault = [&] {
    return Status::invalid("matcher value contains unescaped double quote: " + std::string(raw));
  };
  std::string_view rest = raw;
  bool closing_due = rest.starts_with('"');
  if (closing_due) rest.remove_prefix(1);
  if (!is_valid_utf8(rest))
    return Status::invalid("matcher value not valid UTF-8: " + std::string(raw));
  std::string value;
  for (size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    const bool last = i + 1 == rest.size();
    if (c == '\\' && !last) {
      const char next = rest[++i];
      if (next == 'n') {
        value.push_back('\n');
      } else {
        if (next != '"' && next != '\\') value.push_back('\\');
        value.push_back(next);
      }
    } else if (c == '"') {
      if (!closing_due || !last) return fault();
      closing_due = false;
    } else {
      value.push_back(c);
    }
  }
  if (closing_due) return fault();
  return value;
}

}  // namespace

Result<Matcher> parse_classic_matcher(std::string_view text) {
  const auto bad = [&] { return Status::invalid("bad matcher format: " + std::string(text)); };
  std::string_view rest = trim(text);
  size_t end = 0;
  while (end < rest.size() &&
         (rest[end] == ':' || is_legacy_metric_name(std::string("a") + rest[end]))) {
    ++end;
  }
  const std::string_view name = rest.substr(0, end);
  if (!is_legacy_metric_name(name)) return bad();
  rest = trim(rest.substr(end));
  MatchOp op = MatchOp::Equal;
  size_t length = 2;
  if (rest.starts_with("=~")) {
    op = MatchOp::Regex;
  } else if (rest.starts_with("!=")) {
    op = MatchOp::NotEqual;
  } else if (rest.starts_with("!~")) {
    op = MatchOp::NotRegex;
  } else if (rest.starts_with("=")) {
    length = 1;
  } else {
    return bad();
  }
  VAGT_TRY(std::string value, unquote_value(trim(rest.substr(length))));
  return Matcher::make(op, std::string(name), std::move(value));
}

Result<std::vector<Matcher>> parse_classic_matchers(std::string_view text) {
  if (text.starts_with('{')) text.remove_prefix(1);
  if (text.ends_with('}')) text.remove_suffix(1);
  std::vector<Matcher> out;
  for (const std::string_view piece : split(text)) {
    VAGT_TRY(Matcher m, parse_classic_matcher(piece));
    out.push_back(std::move(m));
  }
  return out;
}

}  // namespace vagt::notify

// What tokens mean by themselves, wherever they stand.
#include "query/parse/tokens.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/labels.h"
#include "query/parse/scan.h"

namespace vagt::query::syntax {
namespace {

constexpr std::pair<std::string_view, Kind> kWords[] = {
    {"and", Kind::And},
    {"or", Kind::Or},
    {"unless", Kind::Unless},
    {"atan2", Kind::Atan2},
    {"sum", Kind::Sum},
    {"avg", Kind::Avg},
    {"count", Kind::Count},
    {"min", Kind::Min},
    {"max", Kind::Max},
    {"group", Kind::Group},
    {"stddev", Kind::Stddev},
    {"stdvar", Kind::Stdvar},
    {"topk", Kind::Topk},
    {"bottomk", Kind::Bottomk},
    {"count_values", Kind::CountValues},
    {"quantile", Kind::Quantile},
    {"limitk", Kind::Limitk},
    {"limit_ratio", Kind::LimitRatio},
    {"offset", Kind::Offset},
    {"smoothed", Kind::Smoothed},
    {"anchored", Kind::Anchored},
    {"by", Kind::By},
    {"without", Kind::Without},
    {"on", Kind::On},
    {"ignoring", Kind::Ignoring},
    {"group_left", Kind::GroupLeft},
    {"group_right", Kind::GroupRight},
    {"fill", Kind::Fill},
    {"fill_left", Kind::FillLeft},
    {"fill_right", Kind::FillRight},
    {"bool", Kind::Bool},
    {"start", Kind::Start},
    {"end", Kind::End},
    {"step", Kind::Step},
    {"range", Kind::Range},
    {"min_of", Kind::MinOf},
    {"max_of", Kind::MaxOf},
    {"inf", Kind::Number},
    {"nan", Kind::Number},
};

constexpr size_t kLongestWord = 12;

// Go's %.10q: the first ten runes, quoted.
std::string quote_shortened(std::string_view word) {
  if (word.size() <= 10) return quote(word);
  size_t end = 0;
  for (int runes = 0; runes < 10 && end < word.size(); ++runes) end += rune_at(word, end).width;
  return quote(word.substr(0, end)) + "...";
}

}  // namespace

Kind word_kind(std::string_view word) {
  if (word.size() > kLongestWord) return Kind::Identifier;
  std::array<char, kLongestWord> lower{};
  std::transform(word.begin(), word.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string_view key(lower.data(), word.size());
  for (const auto& [text, kind] : kWords)
    if (text == key) return kind;
  return Kind::Identifier;
}

bool is_metric_name(Kind k) {
  if (is_aggregator(k) || is_function_keyword(k)) return true;
  switch (k) {
    case Kind::Identifier:
    case Kind::MetricIdentifier:
    case Kind::And:
    case Kind::Or:
    case Kind::Unless:
    case Kind::By:
    case Kind::Without:
    case Kind::Offset:
    case Kind::Anchored:
    case Kind::Smoothed:
      return true;
    default:
      return false;
  }
}

bool is_label_name(Kind k) {
  if (k == Kind::Without || (k >= Kind::Fill && k <= Kind::FillRight)) return false;
  return is_metric_name(k) || k == Kind::Atan2 || (k >= Kind::Bool && k <= Kind::GroupRight);
}

std::string describe(const Token& token, std::string_view text) {
  const std::string word(text.substr(token.begin, token.end - token.begin));
  switch (token.kind) {
    case Kind::Eof:
      return "end of input";
    case Kind::Identifier:
      return "identifier " + quote(word);
    case Kind::MetricIdentifier:
      return "metric identifier " + quote(word);
    case Kind::Number:
      return "number " + quote_shortened(word);
    case Kind::Duration:
      return "duration " + quote_shortened(word);
    case Kind::String:
      return "string " + quote_shortened(word);
    default:
      break;
  }
  if (is_aggregator(token.kind)) return fmt::format("<aggr:{}>", word);
  if (token.kind >= Kind::Bool && token.kind <= Kind::Smoothed) return fmt::format("<{}>", word);
  if (token.kind >= Kind::MatchRegex && token.kind <= Kind::Unless)
    return fmt::format("<op:{}>", word);
  return quote_shortened(word);
}

std::string unquote(std::string_view quoted) {
  const std::string_view body = quoted.substr(1, quoted.size() - 2);
  if (quoted.front() == '`') return std::string(body);
  std::string out;
  out.reserve(body.size());
  for (size_t pos = 0; pos < body.size();) {
    if (body[pos] == '\\') {
      append_unescaped(out, body, pos);
    } else {
      out += body[pos++];
    }
  }
  return out;
}

}  // namespace vagt::query::syntax

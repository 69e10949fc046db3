#include "notify/matchers.h"

#include <algorithm>

#include "notify/matcher_grammar.h"

namespace vagt::notify {
namespace {

bool same(const std::vector<Matcher>& a, const std::vector<Matcher>& b) { return a == b; }

bool is_reserved_rune(std::string_view text) {
  return text.find_first_of(" \t\n\v\f\r{}!=~,\\\"'`") != std::string_view::npos ||
         text.find("\xc2\x85") != std::string_view::npos ||
         text.find("\xc2\xa0") != std::string_view::npos;
}

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

Result<std::vector<Matcher>> parse_matchers(std::string_view text, MatcherSyntax syntax) {
  if (syntax == MatcherSyntax::Classic) return parse_classic_matchers(text);
  if (syntax == MatcherSyntax::Utf8) return parse_utf8_matchers(text);
  auto utf8 = parse_utf8_matchers(text);
  auto classic = parse_classic_matchers(text);
  if (!classic.ok()) return utf8.ok() ? std::move(utf8) : std::move(classic);
  if (utf8.ok() && same(*utf8, *classic)) return utf8;
  return classic;
}

Result<Matcher> parse_matcher(std::string_view text, MatcherSyntax syntax) {
  const auto one = [](Result<std::vector<Matcher>> list) -> Result<Matcher> {
    VAGT_TRY(auto matchers, std::move(list));
    if (matchers.size() != 1) {
      return Status::invalid("expected 1 matcher, found " + std::to_string(matchers.size()));
    }
    return std::move(matchers[0]);
  };
  if (syntax == MatcherSyntax::Classic) return parse_classic_matcher(text);
  if (text.starts_with('{') || text.ends_with('}')) {
    return Status::invalid("unexpected open or close brace: " + std::string(text));
  }
  auto utf8 = one(parse_utf8_matchers(text));
  if (syntax == MatcherSyntax::Utf8) return utf8;
  auto classic = parse_classic_matcher(text);
  if (!classic.ok()) return utf8.ok() ? std::move(utf8) : std::move(classic);
  return classic;
}

std::string matcher_text(const Matcher& matcher) {
  const std::string op(match_op_text(matcher.op()));
  if (is_reserved_rune(matcher.name())) {
    return quote(matcher.name()) + op + quote(matcher.value());
  }
  return matcher.name() + op + "\"" + escaped(matcher.value()) + "\"";
}

void sort_matchers(std::vector<Matcher>& matchers) {
  std::stable_sort(matchers.begin(), matchers.end(), [](const Matcher& a, const Matcher& b) {
    return std::tie(a.name(), a.value()) < std::tie(b.name(), b.value()) ||
           (a.name() == b.name() && a.value() == b.value() && a.op() < b.op());
  });
}

std::string matchers_text(std::vector<Matcher> matchers) {
  sort_matchers(matchers);
  std::string out = "{";
  for (const Matcher& m : matchers) {
    if (out.size() > 1) out += ",";
    out += matcher_text(m);
  }
  return out + "}";
}

bool is_label_name(std::string_view name, MatcherSyntax syntax) {
  return syntax == MatcherSyntax::Classic ? is_legacy_label_name(name) : is_utf8_name(name);
}

}  // namespace vagt::notify

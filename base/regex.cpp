#include "base/regex.h"

#include <re2/re2.h>

#include <charconv>

#include "base/labels.h"

namespace vagt {
namespace {

// A compiled program beyond this is refused: "(x{1000}){1000}" would otherwise take gigabytes.
constexpr int64_t kMaxProgramBytes = 16 << 20;

bool is_plain(char c) {
  constexpr std::string_view kMeta = "\\.+*?()|[]{}^$";
  return kMeta.find(c) == std::string_view::npos;
}

// Splits "a|b|c" (or "(a|b)", "(?:a|b)") into literals; empty when anything in it is not literal
// text.
std::vector<std::string> split_literals(std::string_view pattern) {
  if (pattern.size() > 2 && pattern.front() == '(' && pattern.back() == ')') {
    std::string_view inner = pattern.substr(1, pattern.size() - 2);
    if (inner.substr(0, 2) == "?:") inner.remove_prefix(2);
    if (inner.find_first_of("()") == std::string_view::npos) pattern = inner;
  }
  std::vector<std::string> literals(1);
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '|') {
      literals.emplace_back();
    } else if (c == '\\' && i + 1 < pattern.size() && !is_plain(pattern[i + 1])) {
      literals.back() += pattern[++i];
    } else if (is_plain(c)) {
      literals.back() += c;
    } else {
      return {};
    }
  }
  return literals;
}

// Errors go to logs, pages and answers: a pattern of a megabyte must not go along.
std::string beginning(std::string text) {
  constexpr size_t kShown = 300;
  if (text.size() <= kShown) return text;
  size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole runes
  text.resize(end);
  return text + "…";
}

// Go's words for an error, so that clients and tests that match on them see what they know.
std::string go_error(const RE2& re, std::string_view pattern) {
  const auto words = [&re]() -> std::string {
    switch (re.error_code()) {
      case RE2::ErrorBadEscape:
        return "invalid escape sequence";
      case RE2::ErrorBadCharClass:
        return "invalid character class";
      case RE2::ErrorBadCharRange:
        return "invalid character class range";
      case RE2::ErrorMissingBracket:
        return "missing closing ]";
      case RE2::ErrorMissingParen:
        return "missing closing )";
      case RE2::ErrorUnexpectedParen:
        return "unexpected )";
      case RE2::ErrorTrailingBackslash:
        return "trailing backslash at end of expression";
      case RE2::ErrorRepeatArgument:
        return "missing argument to repetition operator";
      case RE2::ErrorRepeatSize:
        return "invalid repeat count";
      case RE2::ErrorRepeatOp:
        return "invalid nested repetition operator";
      case RE2::ErrorBadPerlOp:
        return "invalid or unsupported Perl syntax";
      case RE2::ErrorBadUTF8:
        return "invalid UTF-8";
      case RE2::ErrorBadNamedCapture:
        return "invalid named capture";
      case RE2::ErrorPatternTooLarge:
        return "expression too large";
      default:
        return re.error();
    }
  };
  const std::string argument = re.error_arg().empty() ? std::string(pattern) : re.error_arg();
  return "error parsing regexp: " + words() + ": `" + beginning(argument) + "`";
}

std::string literal_prefix(std::string_view pattern) {
  // An alternation anywhere outside groups makes the beginning optional.
  if (pattern.find('|') != std::string_view::npos) return {};
  std::string prefix;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (!is_plain(pattern[i])) {
      // A quantifier applies to the character before it.
      const bool optional = pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '{';
      if (optional && !prefix.empty()) {
        do {
          const bool continuation = (static_cast<unsigned char>(prefix.back()) & 0xC0) == 0x80;
          prefix.pop_back();
          if (!continuation) break;
        } while (!prefix.empty());
      }
      return prefix;
    }
    prefix += pattern[i];
  }
  return prefix;
}

// `(?<name>…)` is the newer spelling of `(?P<name>…)`, which is the one this RE2 knows.
std::string with_older_names(std::string_view pattern) {
  std::string text;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    text += pattern[i];
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      text += pattern[++i];
    } else if (pattern[i] == '[') {
      in_class = true;
    } else if (pattern[i] == ']') {
      in_class = false;
    } else if (!in_class && pattern.substr(i, 3) == "(?<") {
      text += "?P";
      ++i;
    }
  }
  return text;
}

}  // namespace

struct Regex::Impl {
  Impl(const std::string& text, const RE2::Options& options) : re(text, options) {}
  RE2 re;
};

Regex::Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view pattern, Anchor anchor) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxProgramBytes);
  Regex regex;
  regex.pattern_ = pattern;
  // The pattern alone first, so that "a)(b" cannot close our group.
  const std::string older = with_older_names(pattern);
  if (const RE2 alone(older, options); !alone.ok())
    return Status::invalid(go_error(alone, pattern));
  const std::string text = anchor == Anchor::Both ? "^(?s:" + older + ")$" : older;
  regex.impl_ = std::make_unique<Impl>(text, options);
  if (!regex.impl_->re.ok()) return Status::invalid(go_error(regex.impl_->re, pattern));
  if (anchor == Anchor::Both) {
    regex.literals_ = split_literals(pattern);
    regex.prefix_ = literal_prefix(pattern);
  }
  return regex;
}

bool Regex::matches(std::string_view text) const {
  if (!literals_.empty()) {
    for (const std::string& literal : literals_)
      if (literal == text) return true;
    return false;
  }
  if (!prefix_.empty() && text.substr(0, prefix_.size()) != prefix_) return false;
  return impl_->re.Match(re2::StringPiece(text.data(), text.size()), 0, text.size(),
                         RE2::UNANCHORED, nullptr, 0);
}

std::optional<std::vector<std::string_view>> Regex::find(std::string_view text, size_t from) const {
  std::vector<re2::StringPiece> pieces(1 + impl_->re.NumberOfCapturingGroups());
  if (from > text.size() ||
      !impl_->re.Match(re2::StringPiece(text.data(), text.size()), from, text.size(),
                       RE2::UNANCHORED, pieces.data(), static_cast<int>(pieces.size())))
    return std::nullopt;
  std::vector<std::string_view> groups;
  groups.reserve(pieces.size());
  for (const re2::StringPiece& piece : pieces) groups.emplace_back(piece.data(), piece.size());
  return groups;
}

std::optional<std::vector<std::string_view>> Regex::groups(std::string_view text) const {
  return find(text, 0);
}

void Regex::expand(std::string_view replacement, const std::vector<std::string_view>& groups,
                   std::string& out) const {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const auto append_group = [&](std::string_view name) {
    size_t index = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (error == std::errc() && end == name.data() + name.size()) {
      if (index < groups.size()) out += groups[index];
      return;
    }
    const auto& names = impl_->re.NamedCapturingGroups();
    if (const auto it = names.find(std::string(name)); it != names.end())
      out += groups[static_cast<size_t>(it->second)];
  };
  for (size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '$' || i + 1 == replacement.size()) {
      out += replacement[i];
      continue;
    }
    if (replacement[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    const bool braces = replacement[i + 1] == '{';
    const size_t begin = i + 1 + (braces ? 1 : 0);
    size_t end = begin;
    while (end < replacement.size() && is_word(replacement[end])) ++end;
    const bool closed = !braces || (end < replacement.size() && replacement[end] == '}');
    if (end == begin || !closed) {
      out += '$';  // malformed: Go leaves the dollar sign as it is
      continue;
    }
    append_group(replacement.substr(begin, end - begin));
    i = end - (braces ? 0 : 1);
  }
}

std::string Regex::replace_all(std::string_view text, std::string_view replacement) const {
  std::string out;
  size_t copied = 0, from = 0;
  while (from <= text.size()) {
    const auto match = find(text, from);
    if (!match) break;
    const size_t begin = static_cast<size_t>((*match)[0].data() - text.data());
    const size_t end = begin + (*match)[0].size();
    // Go ignores an empty match right after the previous match.
    const bool skip = begin == end && begin == copied && copied != 0;
    if (!skip) {
      out += text.substr(copied, begin - copied);
      expand(replacement, *match, out);
      copied = end;
    }
    from = end > begin ? end : end + 1;
  }
  if (copied < text.size()) out += text.substr(copied);
  return out;
}

}  // namespace vagt

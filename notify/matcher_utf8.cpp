#include <fmt/format.h>

#include <optional>
#include <string>

#include "notify/matcher_grammar.h"

namespace vagt::notify {
namespace {

enum class Kind : uint8_t { End, Open, Close, Comma, Operator, Quoted, Bare };

struct Token {
  Kind kind = Kind::End;
  std::string_view text;
  size_t begin = 0;
};

// Length of the white space at the front, 0 when there is none.
size_t space_length(std::string_view text) {
  if (text.empty()) return 0;
  if (std::string_view(" \t\n\v\f\r").find(text[0]) != std::string_view::npos) return 1;
  for (const std::string_view wide :
       {"\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
        "\xe2\x81\x9f", "\xe3\x80\x80"}) {
    if (text.starts_with(wide)) return wide.size();
  }
  if (text.size() >= 3 && text.starts_with("\xe2\x80") && static_cast<uint8_t>(text[2]) >= 0x80 &&
      static_cast<uint8_t>(text[2]) <= 0x8a) {
    return 3;
  }
  return 0;
}

bool is_reserved(char c) {
  return std::string_view("{}!=~,\\\"'`").find(c) != std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<Matcher>> run() {
    std::vector<Matcher> out;
    VAGT_CHECK_OK(advance());
    const bool open = token_.kind == Kind::Open;
    if (open) VAGT_CHECK_OK(advance());
    while (token_.kind != Kind::End && token_.kind != Kind::Close) {
      VAGT_TRY(Matcher m, matcher());
      out.push_back(std::move(m));
      if (token_.kind != Kind::Comma) break;
      VAGT_CHECK_OK(advance());
    }
    if (open) {
      if (token_.kind == Kind::End) return fail("end of input: expected close brace");
      if (token_.kind != Kind::Close) return unexpected("expected a comma or close brace");
      VAGT_CHECK_OK(advance());
    } else if (token_.kind == Kind::Close) {
      return fail("}: expected opening brace");
    }
    if (token_.kind != Kind::End)
      return unexpected(open ? "expected end of input" : "expected a comma");
    return out;
  }

 private:
  Status fail(std::string_view what) const {
    return Status::invalid(
        fmt::format("{}:{}: {}", token_.begin, token_.begin + token_.text.size(), what));
  }
  Status unexpected(std::string_view wanted) const {
    if (token_.kind == Kind::End) return fail(fmt::format("end of input: {}", wanted));
    return fail(fmt::format("unexpected {}: {}", token_.text, wanted));
  }

  Result<Matcher> matcher() {
    if (token_.kind != Kind::Quoted && token_.kind != Kind::Bare)
      return unexpected("expected label name");
    VAGT_TRY(std::string name, word());
    if (token_.kind != Kind::Operator) {
      return unexpected("expected an operator such as '=', '!=', '=~' or '!~'");
    }
    MatchOp op = MatchOp::Equal;
    if (token_.text == "!=") op = MatchOp::NotEqual;
    if (token_.text == "=~") op = MatchOp::Regex;
    if (token_.text == "!~") op = MatchOp::NotRegex;
    VAGT_CHECK_OK(advance());
    if (token_.kind != Kind::Quoted && token_.kind != Kind::Bare)
      return unexpected("expected label value");
    VAGT_TRY(std::string value, word());
    return Matcher::make(op, std::move(name), std::move(value));
  }

  Result<std::string> word() {
    std::string out(token_.text);
    if (token_.kind == Kind::Quoted) {
      auto plain = unquote(token_.text.substr(1, token_.text.size() - 2));
      if (!plain) return fail(fmt::format("{}: invalid input", token_.text));
      out = std::move(*plain);
    }
    VAGT_CHECK_OK(advance());
    return out;
  }

  // What Go's strconv.Unquote makes of the text between double quotes; nullopt: it refuses.
  static std::optional<std::string> unquote(std::string_view in) {
    std::string out;
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] == '\n') return std::nullopt;
      if (in[i] != '\\') {
        out.push_back(in[i]);
        continue;
      }
      if (++i == in.size()) return std::nullopt;
      static constexpr std::string_view kFrom = "abfnrtv\\\"", kTo = "\a\b\f\n\r\t\v\\\"";
      if (const size_t at = kFrom.find(in[i]); at != std::string_view::npos) {
        out.push_back(kTo[at]);
      } else if (!coded(in, i, out)) {
        return std::nullopt;
      }
    }
    if (!is_valid_utf8(out)) return std::nullopt;
    return out;
  }

  // \xHH, \OOO, \uHHHH and \UHHHHHHHH with `i` at the letter; leaves it at the last digit.
  static bool coded(std::string_view in, size_t& i, std::string& out) {
    const char kind = in[i];
    size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 3;
    const uint32_t base = digits == 3 ? 8 : 16;
    if (base == 16) ++i;
    uint32_t value = 0;
    for (; digits > 0; --digits, ++i) {
      if (i >= in.size()) return false;
      const char c = in[i];
      uint32_t digit = 99;
      if (c >= '0' && c <= '9') digit = static_cast<uint32_t>(c - '0');
      if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a' + 10);
      if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A' + 10);
      if (digit >= base || value > 0x0fffffff) return false;
      value = value * base + digit;
    }
    --i;
    if (kind == 'u' || kind == 'U') {
      if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return false;
      append_utf8(out, value);
      return true;
    }
    if (value > 255) return false;
    out.push_back(static_cast<char>(value));
    return true;
  }

  Status advance() {
    while (const size_t n = space_length(text_.substr(at_))) at_ += n;
    token_ = {Kind::End, {}, at_};
    if (at_ == text_.size()) return {};
    const char c = text_[at_];
    if (c == '{') return take(Kind::Open, 1);
    if (c == '}') return take(Kind::Close, 1);
    if (c == ',') return take(Kind::Comma, 1);
    if (c == '=' || c == '!') return operator_token();
    if (c == '"') return quoted_token();
    size_t end = at_;
    while (end < text_.size() && !is_reserved(text_[end]) && space_length(text_.substr(end)) == 0)
      ++end;
    if (end == at_) {
      token_.text = text_.substr(at_, 1);
      return fail(fmt::format("{}: invalid input", token_.text));
    }
    if (!is_valid_utf8(text_.substr(at_, end - at_))) return fail("invalid UTF-8");
    return take(Kind::Bare, end - at_);
  }

  Status operator_token() {
    const std::string_view two = text_.substr(at_, 2);
    if (two == "=~" || two == "!=" || two == "!~") return take(Kind::Operator, 2);
    if (two.starts_with('=')) return take(Kind::Operator, 1);
    token_.text = two;
    return fail("expected one of '=~' after '!'");
  }

  Status quoted_token() {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) {
      token_.text = text_.substr(at_);
      return fail(fmt::format("{}: missing end \"", token_.text));
    }
    return take(Kind::Quoted, end + 1 - at_);
  }

  Status take(Kind kind, size_t length) {
    token_ = {kind, text_.substr(at_, length), at_};
    at_ += length;
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  Token token_;
};

}  // namespace

Result<std::vector<Matcher>> parse_utf8_matchers(std::string_view text) {
  return Parser(text).run();
}

}  // namespace vagt::notify

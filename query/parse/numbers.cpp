#include "query/parse/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "base/labels.h"
#include "base/number_text.h"
#include "base/time.h"
#include "query/parse/explain.h"
#include "query/parse/scan.h"

namespace vagt::query::syntax {
namespace {

// Go's rule: an underscore stands between digits, or between the base prefix and a digit.
bool underscores_fit(std::string_view word) {
  const bool prefixed =
      word.size() >= 2 && word[0] == '0' && is_letter(word[1]) && word[1] != 'e' && word[1] != 'E';
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '_') continue;
    const bool digit_before =
        i > 0 && (is_word(word[i - 1]) && word[i - 1] != '_') && (i >= 2 || is_digit(word[i - 1]));
    const bool behind_prefix = prefixed && i == 2;
    const bool digit_after = i + 1 < word.size() && is_word(word[i + 1]) && word[i + 1] != '_';
    if (!(digit_before || behind_prefix) || !digit_after) return false;
  }
  return true;
}

// Go's ParseInt with base 0, without a sign: 0x is hexadecimal, a leading 0 octal.
std::optional<double> integer_value(std::string_view digits) {
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const bool hex = digits[1] == 'x' || digits[1] == 'X';
    base = hex ? 16 : 8;
    digits.remove_prefix(hex ? 2 : 1);
  }
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty())
    return std::nullopt;
  return static_cast<double>(value);
}

Result<double> plain_number(std::string_view word) {
  const auto refuse = [word](std::string_view why) {
    return Status::invalid(
        fmt::format("error parsing number: strconv.ParseFloat: parsing {}: {}", quote(word), why));
  };
  std::string digits(word);
  if (digits.find('_') != std::string::npos) {
    if (!underscores_fit(word)) return refuse("invalid syntax");
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  }
  if (const auto value = integer_value(digits)) return *value;
  const auto value = parse_float(digits);
  if (!value) return refuse("invalid syntax");
  if (std::isinf(*value) && is_digit(word[0])) return refuse("value out of range");
  return *value;
}

// Beyond this many seconds Go's nanoseconds overflow.
constexpr double kMaxSeconds = 9223372036.854775807;
bool out_of_range(double seconds) { return !(std::abs(seconds) <= kMaxSeconds); }  // NaN too

using Op = DurationExpr::Op;

struct Pending {
  Token token;
  bool sign = false;
};
// Signs bind as `*` does.
int precedence(const Pending& pending) {
  if (pending.sign) return 2;
  switch (pending.token.kind) {
    case Kind::Pow:
      return 3;
    case Kind::Mul:
    case Kind::Div:
    case Kind::Mod:
      return 2;
    default:
      return 1;
  }
}

Op duration_op(Kind k) {
  switch (k) {
    case Kind::Add:
      return Op::Add;
    case Kind::Sub:
      return Op::Sub;
    case Kind::Mul:
      return Op::Mul;
    case Kind::Div:
      return Op::Div;
    case Kind::Mod:
      return Op::Mod;
    case Kind::Pow:
      return Op::Pow;
    case Kind::Step:
      return Op::Step;
    case Kind::Range:
      return Op::Range;
    case Kind::MinOf:
      return Op::MinOf;
    default:
      return Op::MaxOf;
  }
}

class DurationLowering {
 public:
  DurationLowering(std::string_view text, bool allow_arithmetic, size_t max_height)
      : text_(text), allow_arithmetic_(allow_arithmetic), max_height_(max_height) {}

  Result<DurationExprPtr> lower(const DurationSyntax& syntax) {
    std::vector<DurationExprPtr> operands;
    std::vector<Pending> pending;
    for (size_t i = 0; i < syntax.terms.size(); ++i) {
      if (i > 0) {
        const Pending next{syntax.ops[i - 1], false};
        while (!pending.empty() && binds_first(pending.back(), next))
          VAGT_CHECK_OK(reduce(operands, pending));
        pending.push_back(next);
      }
      for (const Token& sign : syntax.terms[i].signs) pending.push_back({sign, true});
      VAGT_TRY(DurationExprPtr term, lower_term(syntax.terms[i]));
      operands.push_back(std::move(term));
    }
    while (!pending.empty()) VAGT_CHECK_OK(reduce(operands, pending));
    return operands.front();
  }

 private:
  static bool binds_first(const Pending& a, const Pending& b) {
    return precedence(a) > precedence(b) ||
           (precedence(a) == precedence(b) && b.token.kind != Kind::Pow);
  }
  Status gate(const DurationExpr& expr) const {
    if (allow_arithmetic_) return {};
    return error_at(text_, expr.source.begin, "experimental duration expression is not enabled");
  }
  // The operators of one duration are the height its tree can reach.
  Status count_operator(const Token& token) {
    if (++operators_ <= max_height_) return {};
    return error_at(text_, token.begin,
                    fmt::format("duration expression has more than {} operators", max_height_));
  }

  Status reduce(std::vector<DurationExprPtr>& operands, std::vector<Pending>& pending) {
    const Pending top = pending.back();
    pending.pop_back();
    VAGT_CHECK_OK(count_operator(top.token));
    DurationExprPtr rhs = std::move(operands.back());
    operands.pop_back();
    if (top.sign) {
      VAGT_TRY(DurationExprPtr signed_value, apply_sign(top.token, std::move(rhs)));
      operands.push_back(std::move(signed_value));
      return {};
    }
    DurationExprPtr lhs = std::move(operands.back());
    operands.pop_back();
    VAGT_CHECK_OK(gate(*lhs));
    const bool by_zero = rhs->op == Op::Literal && rhs->seconds == 0;
    if (by_zero && top.token.kind == Kind::Div)
      return error_at(text_, top.token.begin, "division by zero");
    if (by_zero && top.token.kind == Kind::Mod)
      return error_at(text_, top.token.begin, "modulo by zero");
    DurationExpr expr;
    expr.op = duration_op(top.token.kind);
    expr.source = {lhs->source.begin, rhs->source.end};
    expr.lhs = std::move(lhs);
    expr.rhs = std::move(rhs);
    operands.push_back(std::make_shared<const DurationExpr>(std::move(expr)));
    return {};
  }

  Result<DurationExprPtr> apply_sign(const Token& sign, DurationExprPtr value) const {
    DurationExpr expr;
    if (value->op == Op::Literal) {
      expr = *value;
      if (sign.kind == Kind::Sub) expr.seconds = -expr.seconds;
      expr.wrapped = false;
      expr.source.begin = sign.begin;
    } else if (sign.kind == Kind::Sub) {
      expr.op = Op::Negate;
      expr.source = {sign.begin, value->source.end};
      expr.lhs = std::move(value);
    } else {
      return value;
    }
    return std::make_shared<const DurationExpr>(std::move(expr));
  }

  Result<DurationExprPtr> lower_term(const DurationTerm& term) {
    DurationExpr expr;
    expr.source = {term.head.begin, term.inner.empty() ? term.head.end : term.close.end};
    switch (term.head.kind) {
      case Kind::Number:
      case Kind::Duration: {
        VAGT_TRY(expr.seconds, number_value(term.head, text_));
        expr.with_unit = term.head.kind == Kind::Duration;
        if (out_of_range(expr.seconds))
          return error_at(text_, term.head.begin, "duration out of range");
        break;
      }
      case Kind::LeftParen: {
        VAGT_TRY(DurationExprPtr inner, lower(term.inner[0]));
        VAGT_CHECK_OK(gate(*inner));
        expr = *inner;
        expr.wrapped = true;
        break;
      }
      default: {
        expr.op = duration_op(term.head.kind);
        expr.source.end = term.close.end;
        if (!term.inner.empty()) {
          VAGT_TRY(expr.lhs, lower(term.inner[0]));
          VAGT_TRY(expr.rhs, lower(term.inner[1]));
        }
        VAGT_CHECK_OK(gate(expr));
      }
    }
    return std::make_shared<const DurationExpr>(std::move(expr));
  }

  const std::string_view text_;
  const bool allow_arithmetic_;
  const size_t max_height_;
  size_t operators_ = 0;
};

}  // namespace

Result<double> number_value(const Token& token, std::string_view text) {
  const std::string_view word = text.substr(token.begin, token.end - token.begin);
  if (token.kind == Kind::Number) {
    Result<double> value = plain_number(word);
    if (!value) return error_at(text, token.begin, value.error().message());
    return value;
  }
  const Result<Duration> duration = parse_duration(word);
  if (!duration) return error_at(text, token.begin, duration.error().message());
  return to_seconds(*duration);
}

Result<DurationExprPtr> lower_duration(const DurationSyntax& syntax, std::string_view text,
                                       bool allow_arithmetic, size_t max_height) {
  return DurationLowering(text, allow_arithmetic, max_height).lower(syntax);
}

}  // namespace vagt::query::syntax

// Prometheus's parser recovers from a fault in the innermost construct that has a rule for it, and
// words the error for that construct. This walk over the tokens before the fault, which are known
// to fit, finds that construct again.
#include "query/parse/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/labels.h"
#include "query/functions.h"

namespace vagt::query::syntax {
namespace {

enum class Inside : uint8_t {
  Parens,
  Call,
  Aggregation,
  Grouping,
  Braces,
  Range,
  Step,
  Offset,
  At
};

struct Frame {
  Inside inside;
  size_t opened = 0;  // the token that opened it
};

class Walk {
 public:
  Walk(const TokenList& list, size_t fault, std::string_view text, const ParseOptions& options)
      : list_(list), fault_(fault), text_(text), options_(options) {}
  Status run() {
    for (size_t i = 0; i < fault_ && !earlier_fault_; ++i) step(i);
    if (earlier_fault_) return *earlier_fault_;
    return word_fault();
  }

 private:
  Kind kind(size_t i) const { return list_.tokens[i].kind; }
  Kind before_fault() const { return fault_ == 0 ? Kind::Eof : kind(fault_ - 1); }
  bool top_is(Inside inside) const { return !frames_.empty() && frames_.back().inside == inside; }
  bool in_duration() const;
  void open(Inside inside, size_t token) { frames_.push_back({inside, token}); }

  void step(size_t i);
  void step_duration(size_t i);
  void step_operand(size_t i);
  void step_after_operand(size_t i);
  void close_paren(size_t i);
  void end_duration(size_t i);
  void check_call(const Token& name);

  Status word_fault() const;
  Status trailing_comma(size_t i) const {
    return error_at(text_, list_.tokens[i].begin,
                    "trailing commas not allowed in function call args");
  }
  Status unexpected(std::string_view context, std::string_view expected) const;
  Status word_braces() const;
  Status word_range(bool at_top) const;
  Status word_step(bool at_top) const;
  bool ends_duration(Kind k) const {
    return k == Kind::Number || k == Kind::Duration || k == Kind::RightParen;
  }

  const TokenList& list_;
  const size_t fault_;
  const std::string_view text_;
  const ParseOptions& options_;
  std::vector<Frame> frames_;
  bool after_operand_ = false;
  bool wants_labels_ = false;  // behind by, without, on, ignoring, group_left, group_right
  std::optional<Status> earlier_fault_;
};

bool Walk::in_duration() const {
  for (size_t i = frames_.size(); i-- > 0;) {
    const Inside inside = frames_[i].inside;
    if (inside == Inside::Range || inside == Inside::Step || inside == Inside::Offset ||
        inside == Inside::At)
      return true;
    if (inside != Inside::Parens) return false;
  }
  return false;
}

void Walk::step(size_t i) {
  const Kind k = kind(i);
  if (top_is(Inside::Braces)) {
    if (k == Kind::RightBrace) frames_.pop_back();
    after_operand_ = true;
  } else if (top_is(Inside::Grouping)) {
    if (k == Kind::RightParen) close_paren(i);
  } else if (wants_labels_ && k == Kind::LeftParen) {
    wants_labels_ = false;
    open(Inside::Grouping, i - 1);
  } else if (in_duration()) {
    step_duration(i);
  } else if (after_operand_) {
    step_after_operand(i);
  } else {
    step_operand(i);
  }
}

void Walk::step_duration(size_t i) {
  switch (kind(i)) {
    case Kind::LeftParen:
      return open(Inside::Parens, i);
    case Kind::RightParen:
      frames_.pop_back();
      return end_duration(i);
    case Kind::Number:
    case Kind::Duration:
      return end_duration(i);
    case Kind::Colon:
      frames_.back().inside = Inside::Step;
      return;
    case Kind::RightBracket:
      frames_.pop_back();
      return;
    default:
      return;
  }
}

// A number or closing parenthesis ends what `offset` and `@` take, but for arithmetic that begins
// with a parenthesis.
void Walk::end_duration(size_t i) {
  if (!top_is(Inside::Offset) && !top_is(Inside::At)) return;
  const bool arithmetic =
      top_is(Inside::Offset) && kind(frames_.back().opened + 1) == Kind::LeftParen;
  const Kind next = kind(i + 1);
  if (arithmetic && next >= Kind::Add && next <= Kind::Pow) return;
  frames_.pop_back();
}

void Walk::step_operand(size_t i) {
  const Kind k = kind(i);
  wants_labels_ = false;
  if (k == Kind::Number || k == Kind::Duration || k == Kind::String) {
    after_operand_ = true;
  } else if (k == Kind::LeftBrace) {
    open(Inside::Braces, i);
  } else if (k == Kind::LeftParen) {
    const bool call = i > 0 && !top_is(Inside::Aggregation) && kind(i - 1) == Kind::Identifier;
    open(call ? Inside::Call : Inside::Parens, call ? i - 1 : i);
  } else if (k == Kind::By || k == Kind::Without) {
    if (top_is(Inside::Aggregation)) {
      wants_labels_ = true;
    } else {
      after_operand_ = true;  // a metric of that name
    }
  } else if (is_aggregator(k)) {
    const Kind next = kind(i + 1);
    const bool aggregates = next == Kind::LeftParen || next == Kind::By || next == Kind::Without;
    if (aggregates) open(Inside::Aggregation, i);
    after_operand_ = !aggregates;
  } else if (is_metric_name(k)) {
    after_operand_ = kind(i + 1) != Kind::LeftParen;
  } else if (k == Kind::On || k == Kind::Ignoring || k == Kind::GroupLeft ||
             k == Kind::GroupRight) {
    wants_labels_ = true;
  } else if (k == Kind::RightParen) {
    if (kind(i - 1) == Kind::Comma) earlier_fault_ = trailing_comma(i - 1);
    close_paren(i);  // of a call without arguments, or behind a trailing comma
  }
}

void Walk::step_after_operand(size_t i) {
  const Kind k = kind(i);
  wants_labels_ = false;
  if (k == Kind::RightParen) return close_paren(i);
  if (k == Kind::LeftBrace) return open(Inside::Braces, i);
  if (k == Kind::LeftBracket) return open(Inside::Range, i);
  if (k == Kind::Offset) return open(Inside::Offset, i);
  if (k == Kind::At) return open(Inside::At, i);
  if (k == Kind::By || k == Kind::Without) wants_labels_ = true;  // behind an aggregation
  if (is_binary_operator(k) || k == Kind::Comma) after_operand_ = false;
}

void Walk::close_paren(size_t i) {
  if (frames_.empty()) return;
  const Frame closed = frames_.back();
  frames_.pop_back();
  if (closed.inside == Inside::Call) check_call(list_.tokens[closed.opened]);
  if (closed.inside == Inside::Grouping) {
    const Kind keyword = kind(closed.opened);
    const bool of_operator = keyword != Kind::By && keyword != Kind::Without;
    after_operand_ = !of_operator && !top_is(Inside::Aggregation);
    wants_labels_ =
        of_operator && (kind(i + 1) == Kind::GroupLeft || kind(i + 1) == Kind::GroupRight);
    return;
  }
  if (top_is(Inside::Aggregation)) frames_.pop_back();
  after_operand_ = true;
}

void Walk::check_call(const Token& name) {
  const std::string_view word = text_.substr(name.begin, name.end - name.begin);
  const FunctionSignature* function = find_function(word);
  if (function == nullptr) {
    earlier_fault_ = error_at(text_, name.begin, "unknown function with name " + quote(word));
  } else if (function->experimental && !options_.experimental_functions) {
    earlier_fault_ =
        error_at(text_, name.begin, fmt::format("function {} is not enabled", quote(word)));
  }
}

Status Walk::unexpected(std::string_view context, std::string_view expected) const {
  const Token& token = list_.tokens[fault_];
  std::string message = "unexpected " + describe(token, text_);
  if (!context.empty()) message += fmt::format(" in {}", context);
  if (!expected.empty()) message += fmt::format(", expected {}", expected);
  return error_at(text_, token.begin, message);
}

Status Walk::word_fault() const {
  const Token& token = list_.tokens[fault_];
  if (token.kind == Kind::Error) return error_at(text_, token.begin, list_.error);
  const Kind before = before_fault();
  if (wants_labels_ && before != Kind::GroupLeft && before != Kind::GroupRight)
    return unexpected("grouping opts", "\"(\"");
  // An argument was wanted: Prometheus has taken the list for finished by then.
  const bool in_arguments = top_is(Inside::Parens) || top_is(Inside::Call);
  if (before == Kind::Comma && in_arguments && !in_duration()) return trailing_comma(fault_ - 1);
  for (size_t i = frames_.size(); i-- > 0;) {
    const bool at_top = i + 1 == frames_.size();
    switch (frames_[i].inside) {
      case Inside::Parens:
      case Inside::Call:
        continue;
      case Inside::Aggregation:
        return unexpected("aggregation", "");
      case Inside::Grouping:
        return before == Kind::LeftParen || before == Kind::Comma
                   ? unexpected("grouping opts", "label")
                   : unexpected("grouping opts", "\",\" or \")\"");
      case Inside::Braces:
        return word_braces();
      case Inside::Range:
        return word_range(at_top);
      case Inside::Step:
        return word_step(at_top);
      case Inside::Offset:
        return unexpected("offset", "number, duration, step(), or range()");
      case Inside::At:
        return unexpected("@", "timestamp");
    }
  }
  return unexpected("", "");
}

Status Walk::word_braces() const {
  switch (before_fault()) {
    case Kind::LeftBrace:
    case Kind::Comma:
      return unexpected("label matching", "identifier or \"}\"");
    case Kind::Identifier:
      return unexpected("label matching", "label matching operator");
    case Kind::String:
      return unexpected("label matching", "\",\" or \"}\"");
    default:
      return unexpected("label matching", "string");
  }
}

Status Walk::word_range(bool at_top) const {
  if (at_top && ends_duration(before_fault()))
    return unexpected("subquery or range", "\":\" or \"]\"");
  return unexpected("subquery or range selector", "number, duration, step(), or range()");
}

Status Walk::word_step(bool at_top) const {
  if (at_top && ends_duration(before_fault())) return unexpected("subquery selector", "\"]\"");
  return unexpected("subquery selector", "number, duration, step(), range(), or \"]\"");
}

}  // namespace

Status error_at(std::string_view text, size_t byte, std::string_view message) {
  if (text.empty())
    return Status::invalid(fmt::format("unknown position: parse error: {}", message));
  const std::string_view before = text.substr(0, byte);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return Status::invalid(
      fmt::format("{}:{}: parse error: {}", lines + 1, byte - line_start + 1, message));
}

Status explain(const TokenList& list, size_t furthest, std::string_view text,
               const ParseOptions& options) {
  return Walk(list, furthest, text, options).run();
}

}  // namespace vagt::query::syntax

#include "base/matcher.h"

namespace vagt {

std::string_view match_op_text(MatchOp op) {
  switch (op) {
    case MatchOp::Equal:
      return "=";
    case MatchOp::NotEqual:
      return "!=";
    case MatchOp::Regex:
      return "=~";
    case MatchOp::NotRegex:
      return "!~";
  }
  return "?";
}

Result<Matcher> Matcher::make(MatchOp op, std::string name, std::string value) {
  std::shared_ptr<const Regex> regex;
  if (op == MatchOp::Regex || op == MatchOp::NotRegex) {
    VAGT_TRY(Regex compiled, Regex::compile(value));
    regex = std::make_shared<const Regex>(std::move(compiled));
  }
  return Matcher(op, std::move(name), std::move(value), std::move(regex));
}

Matcher Matcher::equal(std::string name, std::string value) {
  return Matcher(MatchOp::Equal, std::move(name), std::move(value), nullptr);
}

bool Matcher::matches(std::string_view label_value) const {
  switch (op_) {
    case MatchOp::Equal:
      return label_value == value_;
    case MatchOp::NotEqual:
      return label_value != value_;
    case MatchOp::Regex:
      return regex_->matches(label_value);
    case MatchOp::NotRegex:
      return !regex_->matches(label_value);
  }
  return false;
}

std::string Matcher::to_string() const {
  std::string out = is_legacy_label_name(name_) ? name_ : quote(name_);
  out += match_op_text(op_);
  return out + quote(value_);
}

bool matches_all(std::span<const Matcher> matchers, const Labels& labels) {
  for (const Matcher& matcher : matchers)
    if (!matcher.matches(labels)) return false;
  return true;
}

}  // namespace vagt

// One condition on a label: =, !=, =~ or !~.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/labels.h"
#include "base/regex.h"
#include "base/status.h"

namespace vagt {

enum class MatchOp : uint8_t { Equal, NotEqual, Regex, NotRegex };
std::string_view match_op_text(MatchOp op);  // "=", "!=", "=~", "!~"

class Matcher {
 public:
  // InvalidArgument: `value` is not a regular expression (Regex and NotRegex only). Regexes are
  // anchored at both ends.
  static Result<Matcher> make(MatchOp op, std::string name, std::string value);
  static Matcher equal(std::string name, std::string value);

  MatchOp op() const { return op_; }
  const std::string& name() const { return name_; }
  const std::string& value() const { return value_; }
  const Regex* regex() const { return regex_.get(); }  // null for Equal and NotEqual

  // An absent label has the value "".
  bool matches(std::string_view label_value) const;
  bool matches(const Labels& labels) const { return matches(labels.get(name_)); }
  // True when a series without the label passes.
  bool matches_empty() const { return matches(std::string_view()); }

  // `name="value"`; the name is quoted where it is not a legacy name.
  std::string to_string() const;
  friend bool operator==(const Matcher& a, const Matcher& b) {
    return a.op_ == b.op_ && a.name_ == b.name_ && a.value_ == b.value_;
  }

 private:
  Matcher(MatchOp op, std::string name, std::string value, std::shared_ptr<const Regex> regex)
      : op_(op), name_(std::move(name)), value_(std::move(value)), regex_(std::move(regex)) {}
  MatchOp op_;
  std::string name_, value_;
  std::shared_ptr<const Regex> regex_;
};

bool matches_all(std::span<const Matcher> matchers, const Labels& labels);

}  // namespace vagt

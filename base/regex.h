// Regular expressions as Prometheus has them: RE2 syntax, `.` matches a newline, compiled once,
// size-capped.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vagt {

class Regex {
 public:
  enum class Anchor : uint8_t { Both, None };

  // InvalidArgument: not a regular expression; the message is RE2's reason and the pattern.
  static Result<Regex> compile(std::string_view pattern, Anchor anchor = Anchor::Both);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  const std::string& pattern() const { return pattern_; }
  bool matches(std::string_view text) const;

  // The whole match and its groups, group 0 first; unset groups are "". nullopt: no match.
  std::optional<std::vector<std::string_view>> groups(std::string_view text) const;
  // The first match at or after `from`, as groups() gives it.
  std::optional<std::vector<std::string_view>> find(std::string_view text, size_t from) const;
  // Go's Regexp.Expand: `$1`, `${1}`, `$name`, `${name}`, `$$` in `replacement`, appended to `out`.
  void expand(std::string_view replacement, const std::vector<std::string_view>& groups,
              std::string& out) const;
  // Go's ReplaceAllString.
  std::string replace_all(std::string_view text, std::string_view replacement) const;

  // When the pattern is only an alternation of literals ("a|b|c", "a"): these, so that an index can
  // look them up.
  const std::vector<std::string>& literals() const { return literals_; }
  // A literal every match begins with; "" when there is none.
  const std::string& prefix() const { return prefix_; }

 private:
  struct Impl;
  Regex();
  std::unique_ptr<Impl> impl_;
  std::string pattern_, prefix_;
  std::vector<std::string> literals_;
};

}  // namespace vagt

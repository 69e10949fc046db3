#include "query/typecheck.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/labels.h"
#include "query/functions.h"
#include "query/parse/explain.h"

namespace vagt::query {
namespace {

class Check {
 public:
  explicit Check(std::string_view text) : text_(text) {}

  Status run(const Expr& expr) {
    return std::visit([&](const auto& node) { return check(expr, node); }, expr.node);
  }

 private:
  Status fail(const Expr& at, std::string_view message) const {
    return syntax::error_at(text_, at.source.begin, message);
  }
  // At the operator between two sides.
  Status fail_at_operator(const Binary& binary, std::string_view message) const {
    const size_t place = text_.find_first_not_of(" \t\r\n", binary.lhs->source.end);
    return syntax::error_at(text_, std::min(place, text_.size()), message);
  }
  Status expect(const Expr& expr, ValueType wanted, std::string_view context) {
    VAGT_CHECK_OK(run(expr));
    if (expr.type == wanted) return {};
    return fail(expr, fmt::format("expected type {} in {}, got {}", documented_type(wanted),
                                  context, documented_type(expr.type)));
  }

  Status check(const Expr&, const NumberLiteral&) { return {}; }
  Status check(const Expr&, const StringLiteral&) { return {}; }
  Status check(const Expr& expr, const VectorSelector& selector) {
    return check_selector(expr, selector, true);
  }
  Status check(const Expr&, const MatrixSelector& matrix) { return run(*matrix.vector); }
  Status check(const Expr&, const Paren& paren) { return run(*paren.expr); }
  Status check(const Expr& expr, const Subquery& subquery);
  Status check(const Expr& expr, const Unary& unary);
  Status check(const Expr& expr, const Aggregate& aggregate);
  Status check(const Expr& expr, const Call& call);
  Status check(const Expr& expr, const Binary& binary);
  Status check_selector(const Expr& expr, const VectorSelector& selector, bool refuse_empty) const;
  Status check_count(const Expr& expr, const Call& call) const;
  Status check_info(const Expr& expr, const Call& call) const;
  Status check_operator(const Binary& binary) const;
  Status check_matching(const Expr& expr, const Binary& binary) const;

  const std::string_view text_;
};

Status Check::check_selector(const Expr& expr, const VectorSelector& selector,
                             bool refuse_empty) const {
  const auto twice = [&](std::string_view first, std::string_view second) {
    return fail(expr, fmt::format("metric name must not be set twice: {} or {}", quote(first),
                                  quote(second)));
  };
  const std::vector<Matcher>& matchers = selector.matchers;
  if (!selector.name.empty()) {
    for (size_t i = 0; i + 1 < matchers.size(); ++i) {
      if (matchers[i].name() == kMetricName) return twice(selector.name, matchers[i].value());
    }
    return {};
  }
  // Inside the braces a name may still be narrowed by patterns, as in {__name__=~"a.*",
  // __name__!="ab"}, but given only once.
  const Matcher* named = nullptr;
  for (const Matcher& matcher : matchers) {
    if (matcher.name() != kMetricName || matcher.op() != MatchOp::Equal) continue;
    if (named != nullptr) return twice(named->value(), matcher.value());
    named = &matcher;
  }
  const bool selects = std::any_of(selector.matchers.begin(), selector.matchers.end(),
                                   [](const Matcher& m) { return !m.matches_empty(); });
  if (selects || !refuse_empty) return {};
  return fail(expr, "vector selector must contain at least one non-empty matcher");
}

Status Check::check(const Expr& expr, const Subquery& subquery) {
  VAGT_CHECK_OK(run(*subquery.expr));
  if (subquery.expr->type == ValueType::Vector) return {};
  return fail(expr, fmt::format("subquery is only allowed on instant vector, got {} instead",
                                value_type_name(subquery.expr->type)));
}

Status Check::check(const Expr& expr, const Unary& unary) {
  VAGT_CHECK_OK(run(*unary.expr));
  if (unary.expr->type == ValueType::Scalar || unary.expr->type == ValueType::Vector) return {};
  return fail(
      expr,
      fmt::format(
          "unary expression only allowed on expressions of type scalar or instant vector, got "
          "\"{}\"",
          documented_type(unary.expr->type)));
}

Status Check::check(const Expr&, const Aggregate& aggregate) {
  VAGT_CHECK_OK(expect(*aggregate.expr, ValueType::Vector, "aggregation expression"));
  if (!aggregate.param) return {};
  const ValueType wanted =
      aggregate.op == AggregateOp::CountValues ? ValueType::String : ValueType::Scalar;
  return expect(*aggregate.param, wanted, "aggregation parameter");
}

Status Check::check_count(const Expr& expr, const Call& call) const {
  const FunctionSignature& f = *call.function;
  const size_t given = call.args.size(), named = f.args.size();
  const auto refuse = [&](std::string_view bound, size_t wanted) {
    return fail(expr, fmt::format("expected {}{} argument(s) in call to {}, got {}", bound, wanted,
                                  quote(f.name), given));
  };
  if (f.variadic == 0) return given == named ? Status() : refuse("", named);
  const size_t least = named - 1;
  if (given < least) return refuse("at least ", least);
  if (f.variadic > 0 && given > least + static_cast<size_t>(f.variadic))
    return refuse("at most ", least + static_cast<size_t>(f.variadic));
  return {};
}

// The second argument of info() is a list of matchers, not a selection.
Status Check::check_info(const Expr& expr, const Call& call) const {
  const Expr& arg = *call.args[1];
  if (arg.type != ValueType::Vector)
    return fail(expr,
                fmt::format("expected type instant vector in call to function \"info\", got {}",
                            documented_type(arg.type)));
  const auto* selector = std::get_if<VectorSelector>(&arg.node);
  if (selector == nullptr) return fail(arg, "expected label selectors only");
  if (!selector->name.empty())
    return fail(arg, "expected label selectors only, got vector selector instead");
  return {};
}

Status Check::check(const Expr& expr, const Call& call) {
  const FunctionSignature& f = *call.function;
  VAGT_CHECK_OK(check_count(expr, call));
  const bool info = f.name == "info";
  if (info && call.args.size() > 1) VAGT_CHECK_OK(check_info(expr, call));
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (info && i == 1) continue;  // checked above, and it may match everything
    const ValueType wanted = f.args[std::min(i, f.args.size() - 1)];
    VAGT_CHECK_OK(expect(*call.args[i], wanted, fmt::format("call to function {}", quote(f.name))));
  }
  return {};
}

Status Check::check_operator(const Binary& binary) const {
  if (binary.return_bool && !is_comparison(binary.op))
    return fail_at_operator(binary, "bool modifier can only be used on comparison operators");
  if (is_comparison(binary.op) && !binary.return_bool && binary.lhs->type == ValueType::Scalar &&
      binary.rhs->type == ValueType::Scalar)
    return fail_at_operator(binary, "comparisons between scalars must use BOOL modifier");
  if (!binary.matching || !binary.matching->on) return {};
  for (const std::string& label : binary.matching->labels) {
    const auto& include = binary.matching->include;
    if (std::find(include.begin(), include.end(), label) != include.end())
      return fail_at_operator(
          binary,
          fmt::format("label {} must not occur in ON and GROUP clause at once", quote(label)));
  }
  return {};
}

Status Check::check_matching(const Expr& expr, const Binary& binary) const {
  using Card = VectorMatching::Card;
  const bool vectors =
      binary.lhs->type == ValueType::Vector && binary.rhs->type == ValueType::Vector;
  const std::string op = quote(binary_op_text(binary.op));
  if (binary.matching) {
    const VectorMatching& matching = *binary.matching;
    const bool fills = matching.fill_lhs || matching.fill_rhs;
    if (!vectors && !matching.labels.empty())
      return fail(expr, "vector matching only allowed between instant vectors");
    if (!vectors && fills)
      return fail(expr, "filling in missing series only allowed between instant vectors");
    if (vectors && is_set_operator(binary.op)) {
      if (matching.card != Card::ManyToMany)
        return fail(expr, fmt::format("no grouping allowed for {} operation", op));
      if (fills) return fail(expr, "filling in missing series not allowed for set operators");
    }
  }
  const bool scalar =
      binary.lhs->type == ValueType::Scalar || binary.rhs->type == ValueType::Scalar;
  if (scalar && is_set_operator(binary.op))
    return fail(expr, fmt::format("set operator {} not allowed in binary scalar expression", op));
  return {};
}

Status Check::check(const Expr& expr, const Binary& binary) {
  VAGT_CHECK_OK(run(*binary.lhs));
  VAGT_CHECK_OK(run(*binary.rhs));
  VAGT_CHECK_OK(check_operator(binary));
  for (const Expr* side : {binary.lhs.get(), binary.rhs.get()})
    if (side->type != ValueType::Scalar && side->type != ValueType::Vector)
      return fail(*side, "binary expression must contain only scalar and instant vector types");
  return check_matching(expr, binary);
}

}  // namespace

Status typecheck(const Expr& expr, std::string_view text) { return Check(text).run(expr); }

}  // namespace vagt::query

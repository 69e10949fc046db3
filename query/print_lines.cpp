// The prettifier: what fits into a line stays as print_expr has it, the rest is split and indented
// node by node.
#include <fmt/core.h>

#include <string>

#include "query/functions.h"
#include "query/parse.h"
#include "query/print_text.h"

namespace vagt::query {
namespace {

constexpr size_t kLineLength = 100;

std::string indent(size_t level) { return std::string(level * 2, ' '); }

std::string lines(const Expr& expr, size_t level);

struct Splitter {
  size_t level;

  std::string split(const Aggregate& node) const {
    std::string out = indent(level) + aggregate_head(node) + "(\n";
    if (node.param) out += lines(*node.param, level + 1) + ",\n";
    return out + lines(*node.expr, level + 1) + "\n" + indent(level) + ")";
  }
  std::string split(const Call& node) const {
    std::string out = fmt::format("{}{}(\n", indent(level), node.function->name);
    for (size_t i = 0; i < node.args.size(); ++i)
      out += (i > 0 ? ",\n" : "") + lines(*node.args[i], level + 1);
    return out + "\n" + indent(level) + ")";
  }
  std::string split(const Binary& node) const {
    return fmt::format("{}\n{}{}\n{}", lines(*node.lhs, level + 1), indent(level),
                       operator_text(node), lines(*node.rhs, level + 1));
  }
  std::string split(const Paren& node) const {
    return fmt::format("{}(\n{}\n{})", indent(level), lines(*node.expr, level + 1), indent(level));
  }
  std::string split(const Subquery& node) const {
    return lines(*node.expr, level) + subquery_tail(node);
  }
};

// A sign is written close to its operand, whose own indentation goes.
std::string sign_lines(const Unary& node, size_t level) {
  std::string inner = lines(*node.expr, level);
  inner.erase(0, inner.find_first_not_of(' '));
  return indent(level) + (node.negate ? "-" : "+") + inner;
}

std::string lines(const Expr& expr, size_t level) {
  const Splitter splitter{level};
  if (const auto* unary = std::get_if<Unary>(&expr.node)) return sign_lines(*unary, level);
  std::string line = print_expr(expr);
  const bool fits = line.size() <= kLineLength;
  if (fits) return std::holds_alternative<Subquery>(expr.node) ? line : indent(level) + line;
  return std::visit(
      [&](const auto& node) {
        if constexpr (requires { splitter.split(node); }) {
          return splitter.split(node);
        } else {
          return indent(level) + line;
        }
      },
      expr.node);
}

}  // namespace

std::string format_expr(const Expr& expr) { return lines(expr, 0); }

}  // namespace vagt::query

// The prettifier: what fits into a line stays as print_expr has it, the rest is split and indented
// node by node.
#include <string>
#include <type_traits>

#include "query/functions.h"
#include "query/parse.h"
#include "query/print_text.h"

namespace vagt::query {
namespace {

constexpr size_t kLineLength = 100;

class LinePrinter {
 public:
  explicit LinePrinter(std::string& out) : out_(out) {}

  void print(const Expr& expr, size_t level) {
    if (const auto* unary = std::get_if<Unary>(&expr.node)) return print_sign(*unary, level);
    const std::string line = print_expr(expr);
    const bool splittable = std::visit([](const auto& node) { return can_split(node); }, expr.node);
    if (splittable && line.size() > kLineLength) {
      std::visit([&](const auto& node) { split(node, level); }, expr.node);
      return;
    }
    if (!std::holds_alternative<Subquery>(expr.node)) indent(level);
    out_ += line;
  }

 private:
  void indent(size_t level) {
    if (glue_) {
      glue_ = false;
    } else {
      out_.append(level * 2, ' ');
    }
  }
  // A sign is written close to its operand, which then has no indentation of its own.
  void print_sign(const Unary& node, size_t level) {
    indent(level);
    out_ += node.negate ? '-' : '+';
    glue_ = true;
    print(*node.expr, level);
    glue_ = false;
  }

  template <class Node>
  static constexpr bool can_split(const Node&) {
    return std::is_same_v<Node, Aggregate> || std::is_same_v<Node, Call> ||
           std::is_same_v<Node, Binary> || std::is_same_v<Node, Paren> ||
           std::is_same_v<Node, Subquery>;
  }
  template <class Leaf>
  void split(const Leaf&, size_t) {}  // never asked for
  void split(const Aggregate& node, size_t level) {
    indent(level);
    out_ += aggregate_head(node) + "(\n";
    if (node.param) {
      print(*node.param, level + 1);
      out_ += ",\n";
    }
    print(*node.expr, level + 1);
    close(level);
  }
  void split(const Call& node, size_t level) {
    indent(level);
    out_ += node.function->name;
    out_ += "(\n";
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (i > 0) out_ += ",\n";
      print(*node.args[i], level + 1);
    }
    close(level);
  }
  void split(const Binary& node, size_t level) {
    if (prints_bare_infinity(node)) {
      indent(level + 1);
      out_ += "Inf";
    } else {
      print(*node.lhs, level + 1);
    }
    out_ += '\n';
    indent(level);
    out_ += operator_text(node) + "\n";
    print(*node.rhs, level + 1);
  }
  void split(const Paren& node, size_t level) {
    indent(level);
    out_ += "(\n";
    print(*node.expr, level + 1);
    close(level);
  }
  void split(const Subquery& node, size_t level) {
    print(*node.expr, level);
    out_ += subquery_tail(node);
  }
  void close(size_t level) {
    out_ += '\n';
    indent(level);
    out_ += ')';
  }

  std::string& out_;
  bool glue_ = false;  // the next indentation is left out
};

}  // namespace

std::string format_expr(const Expr& expr) {
  std::string out;
  LinePrinter(out).print(expr, 0);
  return out;
}

}  // namespace vagt::query

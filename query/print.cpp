#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/labels.h"
#include "base/number_text.h"
#include "query/functions.h"
#include "query/parse.h"
#include "query/print_text.h"

namespace vagt::query {
namespace {

std::string seconds_text(double seconds, bool with_unit) {
  if (!with_unit) return format_float(seconds);
  // Go converts to whole nanoseconds, then prints whole milliseconds.
  const std::string text =
      format_duration(Duration(static_cast<int64_t>(std::abs(seconds) * 1000 + 1e-6)));
  // -0 too: a division tells it from 0.
  return std::signbit(seconds) ? "-" + text : text;
}

std::string duration_text(const DurationExpr& expr) {
  using Op = DurationExpr::Op;
  const auto two = [&](std::string_view op) {
    return fmt::format("{} {} {}", duration_text(*expr.lhs), op, duration_text(*expr.rhs));
  };
  const auto choice = [&](std::string_view name) {
    return fmt::format("{}({}, {})", name, duration_text(*expr.lhs), duration_text(*expr.rhs));
  };
  const auto text = [&]() -> std::string {
    switch (expr.op) {
      case Op::Literal:
        return seconds_text(expr.seconds, expr.with_unit);
      case Op::Step:
        return "step()";
      case Op::Range:
        return "range()";
      case Op::Add:
        return two("+");
      case Op::Sub:
        return two("-");
      case Op::Mul:
        return two("*");
      case Op::Div:
        return two("/");
      case Op::Mod:
        return two("%");
      case Op::Pow:
        return two("^");
      case Op::Negate:
        return "-" + duration_text(*expr.lhs);
      case Op::Plus:
        return duration_text(*expr.lhs);
      case Op::MinOf:
        return choice("min_of");
      case Op::MaxOf:
        return choice("max_of");
    }
    return "";
  };
  return expr.wrapped ? "(" + text() + ")" : text();
}

std::string range_text(Duration plain, const DurationExprPtr& tree) {
  return tree ? duration_text(*tree) : format_duration(plain);
}

std::string at_text(const TimeShift& shift) {
  switch (shift.at) {
    case TimeShift::At::None:
      return "";
    case TimeShift::At::Fixed:
      return fmt::format(" @ {:.3f}", to_seconds(shift.at_time));
    case TimeShift::At::Start:
      return " @ start()";
    case TimeShift::At::End:
      return " @ end()";
  }
  return "";
}

std::string offset_text(const TimeShift& shift) {
  if (shift.offset_expr) return " offset " + duration_text(*shift.offset_expr);
  if (shift.offset.count() == 0) return "";
  return " offset " + format_duration(shift.offset);
}

std::string_view extended_text(const VectorSelector& node) {
  switch (node.extended) {
    case VectorSelector::Extended::None:
      return "";
    case VectorSelector::Extended::Anchored:
      return " anchored";
    case VectorSelector::Extended::Smoothed:
      return " smoothed";
  }
  return "";
}

// The name and the matchers, without time.
std::string selection_text(const VectorSelector& node) {
  std::vector<std::string> parts;
  for (const Matcher& m : node.matchers) {
    const bool is_name =
        m.name() == kMetricName && m.op() == MatchOp::Equal && m.value() == node.name;
    if (!is_name || m.value().empty()) parts.push_back(m.to_string());
  }
  // info() takes a selector that asks for nothing.
  if (parts.empty()) return node.name.empty() ? "{}" : node.name;
  std::sort(parts.begin(), parts.end());
  std::string out = node.name + "{";
  for (size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? "," : "") + parts[i];
  return out + "}";
}

std::string label_list(const std::vector<std::string>& labels) {
  std::string out;
  for (const std::string& label : labels) {
    if (!out.empty()) out += ", ";
    out += is_legacy_label_name(label) ? label : quote(label);
  }
  return out;
}

std::string fill_text(const VectorMatching& m) {
  if (m.fill_lhs && m.fill_rhs && format_float_g(*m.fill_lhs) == format_float_g(*m.fill_rhs))
    return fmt::format(" fill ({})", format_float_g(*m.fill_lhs));
  std::string out;
  if (m.fill_lhs) out += fmt::format(" fill_left ({})", format_float_g(*m.fill_lhs));
  if (m.fill_rhs) out += fmt::format(" fill_right ({})", format_float_g(*m.fill_rhs));
  return out;
}

// Appends, so that a long chain of operators costs its length and no more.
struct Printer {
  std::string& out;

  void print(const Expr& expr) const { std::visit(*this, expr.node); }

  void operator()(const NumberLiteral& node) const {
    out += seconds_text(node.value, node.duration);
  }
  void operator()(const StringLiteral& node) const { out += quote(node.value); }
  void operator()(const VectorSelector& node) const {
    out += selection_text(node) + at_text(node.shift);
    out += extended_text(node);
    out += offset_text(node.shift);
  }
  void operator()(const MatrixSelector& node) const {
    const auto& vector = std::get<VectorSelector>(node.vector->node);
    out +=
        fmt::format("{}[{}]{}{}{}", selection_text(vector), range_text(node.range, node.range_expr),
                    extended_text(vector), at_text(vector.shift), offset_text(vector.shift));
  }
  void operator()(const Subquery& node) const {
    print(*node.expr);
    out += subquery_tail(node);
  }
  void operator()(const Call& node) const {
    out += node.function->name;
    out += '(';
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (i > 0) out += ", ";
      print(*node.args[i]);
    }
    out += ')';
  }
  void operator()(const Aggregate& node) const {
    out += aggregate_head(node);
    out += '(';
    if (node.param) {
      print(*node.param);
      out += ", ";
    }
    print(*node.expr);
    out += ')';
  }
  void operator()(const Binary& node) const {
    if (prints_bare_infinity(node)) {
      out += "Inf";
    } else {
      print(*node.lhs);
    }
    out += ' ';
    out += operator_text(node);
    out += ' ';
    print(*node.rhs);
  }
  void operator()(const Unary& node) const {
    out += node.negate ? '-' : '+';
    print(*node.expr);
  }
  void operator()(const Paren& node) const {
    out += '(';
    print(*node.expr);
    out += ')';
  }
};

}  // namespace

std::string aggregate_head(const Aggregate& node) {
  std::string out(aggregate_op_text(node.op));
  if (node.without || !node.grouping.empty())
    out += fmt::format(" {} ({}) ", node.without ? "without" : "by", label_list(node.grouping));
  return out;
}

std::string operator_text(const Binary& node) {
  using Card = VectorMatching::Card;
  std::string out(binary_op_text(node.op));
  if (node.return_bool) out += " bool";
  if (!node.matching) return out;
  const VectorMatching& m = *node.matching;
  const bool grouped = m.card == Card::ManyToOne || m.card == Card::OneToMany;
  if (!m.labels.empty() || m.on || grouped)
    out += fmt::format(" {} ({})", m.on ? "on" : "ignoring", label_list(m.labels));
  if (grouped)
    out += fmt::format(" group_{} ({})", m.card == Card::ManyToOne ? "left" : "right",
                       label_list(m.include));
  return out + fill_text(m);
}

bool prints_bare_infinity(const Binary& node) {
  const auto* number = std::get_if<NumberLiteral>(&node.lhs->node);
  return node.op == BinaryOp::Pow && number != nullptr && std::isinf(number->value) &&
         number->value > 0;
}

std::string subquery_tail(const Subquery& node) {
  const bool has_step = node.step.count() != 0 || node.step_expr;
  return fmt::format("[{}:{}]{}{}", range_text(node.range, node.range_expr),
                     has_step ? range_text(node.step, node.step_expr) : "", at_text(node.shift),
                     offset_text(node.shift));
}

std::string print_expr(const Expr& expr) {
  std::string out;
  Printer{out}.print(expr);
  return out;
}

}  // namespace vagt::query

#include "query/parse_json.h"

#include <cmath>

#include "base/json_writer.h"
#include "base/number_text.h"
#include "query/functions.h"

namespace vagt::query {
namespace {

using base::JsonWriter;

class TreeWriter {
 public:
  explicit TreeWriter(std::string& out) : json_(out) {}

  void write(const Expr& expr) {
    json_.begin_object();
    std::visit([this](const auto& node) { fields(node); }, expr.node);
    json_.end_object();
  }

 private:
  void fields(const NumberLiteral& node) {
    json_.key("type").string("numberLiteral").key("val").string(format_float(node.value));
  }
  void fields(const StringLiteral& node) {
    json_.key("type").string("stringLiteral").key("val").string(node.value);
  }
  void fields(const Paren& node) {
    child("expr", node.expr);
    json_.key("type").string("parenExpr");
  }
  void fields(const Unary& node) {
    child("expr", node.expr);
    json_.key("op").string(node.negate ? "-" : "+").key("type").string("unaryExpr");
  }
  void fields(const VectorSelector& node) {
    anchored(node);
    selector(node);
    json_.key("type").string("vectorSelector");
  }
  void fields(const MatrixSelector& node) {
    const auto& vector = std::get<VectorSelector>(node.vector->node);
    anchored(vector);
    matchers_name_offset(vector);
    json_.key("range").integer(node.range.count());
    smoothed_and_shift(vector);
    json_.key("type").string("matrixSelector");
  }
  void fields(const Subquery& node);
  void fields(const Call& node);
  void fields(const Aggregate& node);
  void fields(const Binary& node);

  void child(std::string_view key, const ExprPtr& expr) {
    json_.key(key);
    if (expr) {
      write(*expr);
    } else {
      json_.null();
    }
  }
  void strings(std::string_view key, const std::vector<std::string>& list) {
    json_.key(key).begin_array();
    for (const std::string& item : list) json_.string(item);
    json_.end_array();
  }
  void number_or_null(std::string_view key, const std::optional<double>& value) {
    json_.key(key);
    // JSON has no NaN and no infinity: these go as the text that the APIs use for them elsewhere.
    if (value && !std::isfinite(*value)) {
      json_.string(format_float(*value));
    } else if (value) {
      json_.number(*value);
    } else {
      json_.null();
    }
  }
  void anchored(const VectorSelector& node) {
    json_.key("anchored").boolean(node.extended == VectorSelector::Extended::Anchored);
  }
  void matchers_name_offset(const VectorSelector& node);
  void smoothed_and_shift(const VectorSelector& node) {
    json_.key("smoothed").boolean(node.extended == VectorSelector::Extended::Smoothed);
    start_or_end(node.shift);
    timestamp(node.shift);
  }
  void selector(const VectorSelector& node) {
    matchers_name_offset(node);
    smoothed_and_shift(node);
  }
  void start_or_end(const TimeShift& shift) {
    json_.key("startOrEnd");
    if (shift.at == TimeShift::At::Start || shift.at == TimeShift::At::End) {
      json_.string(shift.at == TimeShift::At::Start ? "start" : "end");
    } else {
      json_.null();
    }
  }
  void timestamp(const TimeShift& shift) {
    json_.key("timestamp");
    if (shift.at == TimeShift::At::Fixed) {
      json_.integer(to_millis(shift.at_time));
    } else {
      json_.null();
    }
  }

  JsonWriter json_;
};

void TreeWriter::matchers_name_offset(const VectorSelector& node) {
  json_.key("matchers").begin_array();
  for (const Matcher& m : node.matchers) {
    json_.begin_object().key("name").string(m.name()).key("type").string(match_op_text(m.op()));
    json_.key("value").string(m.value()).end_object();
  }
  json_.end_array().key("name").string(node.name);
  json_.key("offset").integer(node.shift.offset.count());
}

void TreeWriter::fields(const Subquery& node) {
  child("expr", node.expr);
  json_.key("offset").integer(node.shift.offset.count());
  json_.key("range").integer(node.range.count());
  start_or_end(node.shift);
  json_.key("step").integer(node.step.count());
  timestamp(node.shift);
  json_.key("type").string("subquery");
}

void TreeWriter::fields(const Call& node) {
  json_.key("args").begin_array();
  for (const ExprPtr& arg : node.args) write(*arg);
  json_.end_array().key("func").begin_object().key("argTypes").begin_array();
  for (const ValueType type : node.function->args) json_.string(value_type_name(type));
  json_.end_array().key("name").string(node.function->name);
  json_.key("returnType").string(value_type_name(node.function->returns));
  json_.key("variadic").integer(node.function->variadic).end_object();
  json_.key("type").string("call");
}

void TreeWriter::fields(const Aggregate& node) {
  child("expr", node.expr);
  strings("grouping", node.grouping);
  json_.key("op").string(aggregate_op_text(node.op));
  child("param", node.param);
  json_.key("type").string("aggregation").key("without").boolean(node.without);
}

std::string_view card_text(VectorMatching::Card card) {
  switch (card) {
    case VectorMatching::Card::OneToOne:
      return "one-to-one";
    case VectorMatching::Card::ManyToOne:
      return "many-to-one";
    case VectorMatching::Card::OneToMany:
      return "one-to-many";
    case VectorMatching::Card::ManyToMany:
      return "many-to-many";
  }
  return "";
}

void TreeWriter::fields(const Binary& node) {
  json_.key("bool").boolean(node.return_bool);
  child("lhs", node.lhs);
  json_.key("matching");
  if (node.matching) {
    const VectorMatching& m = *node.matching;
    json_.begin_object().key("card").string(card_text(m.card)).key("fillValues").begin_object();
    number_or_null("lhs", m.fill_lhs);
    number_or_null("rhs", m.fill_rhs);
    json_.end_object();
    strings("include", m.include);
    strings("labels", m.labels);
    json_.key("on").boolean(m.on).end_object();
  } else {
    json_.null();
  }
  json_.key("op").string(binary_op_text(node.op));
  child("rhs", node.rhs);
  json_.key("type").string("binaryExpr");
}

}  // namespace

std::string expr_to_json(const Expr& expr) {
  std::string out;
  TreeWriter(out).write(expr);
  return out;
}

}  // namespace vagt::query

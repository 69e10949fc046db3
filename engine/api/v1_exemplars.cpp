#include "engine/api/v1_exemplars.h"

#include "engine/api/v1_envelope.h"
#include "query/ast.h"

namespace vagt::engine::api {
namespace {

// Every vector selector below a node. Recursion ends with the parser's depth limit.
class SelectorCollector {
 public:
  MatcherSets found;

  void visit(const query::ExprPtr& expr) {
    if (expr == nullptr) return;
    std::visit([this](const auto& node) { take(node); }, expr->node);
  }

 private:
  void take(const query::NumberLiteral&) {}
  void take(const query::StringLiteral&) {}
  void take(const query::VectorSelector& node) { found.push_back(node.matchers); }
  void take(const query::MatrixSelector& node) { visit(node.vector); }
  void take(const query::Subquery& node) { visit(node.expr); }
  void take(const query::Call& node) {
    for (const query::ExprPtr& argument : node.args) visit(argument);
  }
  void take(const query::Aggregate& node) { visit(node.expr), visit(node.param); }
  void take(const query::Binary& node) { visit(node.lhs), visit(node.rhs); }
  void take(const query::Unary& node) { visit(node.expr); }
  void take(const query::Paren& node) { visit(node.expr); }
};

void write_labels(base::JsonWriter& w, const Labels& labels) {
  w.begin_object();
  for (const Label& label : labels.items()) w.key(label.name).string(label.value);
  w.end_object();
}

void write_series(base::JsonWriter& w, const tsdb::SeriesExemplars& row) {
  w.begin_object().key("seriesLabels");
  write_labels(w, row.series);
  w.key("exemplars").begin_array();
  for (const tsdb::Exemplar& exemplar : row.exemplars) {
    std::string value, time;
    append_json_value(value, exemplar.value);
    append_json_time(time, exemplar.t);
    w.begin_object().key("labels");
    write_labels(w, exemplar.labels);
    w.key("value").string(value).key("timestamp").raw(time).end_object();
  }
  w.end_array().end_object();
}

}  // namespace

net::ServerResponse query_exemplars(const QueryContext& context,
                                    const net::ServerRequest& request) {
  const auto start = time_param(request, "start", kMinTime);
  if (!start.ok()) return v1_error(V1Error::BadData, start.error().message());
  const auto end = time_param(request, "end", kMaxTime);
  if (!end.ok()) return v1_error(V1Error::BadData, end.error().message());
  if (*end < *start)
    return v1_error(V1Error::BadData, "end timestamp must not be before start timestamp");
  const auto expr = query::parse_expr(request.param("query").value_or(""), context.parse);
  if (!expr.ok()) return v1_bad_parameter("query", expr.error().message());
  SelectorCollector collector;
  collector.visit(*expr);
  std::vector<tsdb::SeriesExemplars> rows;
  if (const tsdb::Exemplars* kept = context.store.exemplars(); kept != nullptr)
    rows = kept->select(collector.found, *start, *end);
  return v1_success([&rows](base::JsonWriter& w) {
    w.begin_array();
    for (const tsdb::SeriesExemplars& row : rows) write_series(w, row);
    w.end_array();
  });
}

}  // namespace vagt::engine::api

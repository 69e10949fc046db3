#include "engine/query_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number_text.h"
#include "engine/api/v1_envelope.h"
#include "engine/html_page.h"
#include "template/escape_text.h"

namespace vagt::engine {
namespace {

// A page is for reading: what goes beyond is counted, not shown.
constexpr size_t kMaxRows = 500;
constexpr size_t kMaxLines = 20;
constexpr int kWidth = 900, kHeight = 260;
constexpr int64_t kSteps = 240;
constexpr std::string_view kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd",
                                         "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#7f7f7f"};

std::string_view colour(size_t line) { return kColours[line % std::size(kColours)]; }

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double v) {
    if (!std::isfinite(v)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  }
};

// One polyline for each stretch of finite values without a gap.
void draw(std::string& out, const query::Series& series, std::string_view stroke, Timestamp start,
          Duration step, const Extent& extent) {
  const double span = extent.high > extent.low ? extent.high - extent.low : 1;
  std::string points;
  size_t count = 0;
  const auto finish = [&] {
    if (count == 1) {
      const size_t comma = points.find(',');
      out += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"1.5\" fill=\"{}\"/>",
                         points.substr(0, comma), points.substr(comma + 1), stroke);
    } else if (count > 1) {
      out += fmt::format("<polyline fill=\"none\" stroke=\"{}\" points=\"{}\"/>", stroke, points);
    }
    points.clear();
    count = 0;
  };
  for (size_t i = 0; i < series.samples.size(); ++i) {
    const double v = series.samples.v[i];
    if (i > 0 && series.samples.t[i] - series.samples.t[i - 1] > step) finish();
    if (!std::isfinite(v)) {
      finish();
      continue;
    }
    const double x = static_cast<double>((series.samples.t[i] - start) / step) * kWidth / kSteps;
    const double y = kHeight - (v - extent.low) / span * kHeight;
    points += fmt::format("{}{:.1f},{:.1f}", count++ == 0 ? "" : " ", x, y);
  }
  finish();
}

void add_chart(std::string& out, const query::Matrix& matrix, Timestamp start, Timestamp end,
               Duration step) {
  Extent extent;
  const size_t lines = std::min(matrix.size(), kMaxLines);
  for (size_t i = 0; i < lines; ++i)
    for (const double v : matrix[i].samples.v) extent.take(v);
  if (extent.high < extent.low) {
    out += "<p>No values in this time.</p>";
    return;
  }
  out += fmt::format(
      "<p>{} to {}, values from {} to {}</p><svg viewBox=\"-2 -2 {} {}\" width=\"{}\" role=\"img\">"
      "<rect x=\"0\" y=\"0\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999\"/>",
      format_rfc3339(start), format_rfc3339(end), format_float(extent.low),
      format_float(extent.high), kWidth + 4, kHeight + 4, kWidth, kWidth, kHeight);
  for (size_t i = 0; i < lines; ++i) draw(out, matrix[i], colour(i), start, step, extent);
  out += "</svg><ul>";
  for (size_t i = 0; i < lines; ++i)
    out += fmt::format("<li><span style=\"color:{}\">&#9632;</span> {}</li>", colour(i),
                       tmpl::escape_html(matrix[i].labels.to_string()));
  out += "</ul>";
  if (matrix.size() > lines)
    out += fmt::format("<p>{} more series are not drawn.</p>", matrix.size() - lines);
}

void add_vector(std::string& out, const query::Vector& vector) {
  Table table(out, "Now", {"series", "value"}, "No series: the expression holds for nothing.");
  for (size_t i = 0; i < std::min(vector.size(), kMaxRows); ++i)
    table.row({tmpl::escape_html(vector[i].labels.to_string()), format_float(vector[i].v)});
  if (vector.size() > kMaxRows)
    table.row({fmt::format("and {} more", vector.size() - kMaxRows), ""});
}

void add_now(std::string& out, const query::QueryResult& result) {
  if (const auto* vector = std::get_if<query::Vector>(&result.value))
    return add_vector(out, *vector);
  Table table(out, "Now", {"series", "value"}, "No series.");
  if (const auto* scalar = std::get_if<query::ScalarValue>(&result.value)) {
    table.row({"scalar", format_float(scalar->v)});
  } else if (const auto* text = std::get_if<query::StringValue>(&result.value)) {
    table.row({"string", tmpl::escape_html(text->text)});
  } else if (const auto* matrix = std::get_if<query::Matrix>(&result.value)) {
    for (size_t i = 0; i < std::min(matrix->size(), kMaxRows); ++i)
      table.row({tmpl::escape_html((*matrix)[i].labels.to_string()),
                 fmt::format("{} samples", (*matrix)[i].samples.size())});
  }
}

void add_notices(std::string& out, const query::QueryResult& result) {
  for (const auto* list : {&result.warnings, &result.infos})
    for (const std::string& notice : *list) out += "<p>" + coloured("warn", notice) + "</p>";
}

void add_form(std::string& out, std::string_view expr, std::string_view range) {
  out += fmt::format(
      "<form method=\"get\"><textarea name=\"g0.expr\" rows=\"3\" "
      "aria-label=\"PromQL\">{}</textarea>"
      "<p>over the last <input name=\"g0.range_input\" size=\"6\" value=\"{}\"> "
      "<button>Run</button> <a href=\"./\">overview</a></p></form>",
      tmpl::escape_html(expr), tmpl::escape_html(range));
}

// Both evaluations of a good expression; the first fault ends the page with its words.
Status add_answer(std::string& out, const api::QueryContext& context, std::string_view text,
                  Duration range, const std::stop_token& stop) {
  VAGT_TRY(auto expr, query::parse_expr(text, context.parse));
  const query::ValueType type = expr->type;
  const query::PlanPtr plan = query::make_plan(std::move(expr), std::string(text));
  const query::EvalOptions options = context.eval_options();
  const Timestamp now = context.clock.now();
  VAGT_TRY(const auto instant, query::eval_instant(*plan, context.store, now, options, stop));
  add_now(out, instant);
  add_notices(out, instant);
  if (type != query::ValueType::Vector && type != query::ValueType::Scalar) return {};
  const Duration step = std::max<Duration>(range / kSteps, Duration(1));
  VAGT_TRY(const auto matrix,
           query::eval_range(*plan, context.store, now - step * kSteps, now, step, options, stop));
  out += "<h2>Before</h2>";
  if (const auto* series = std::get_if<query::Matrix>(&matrix.value))
    add_chart(out, *series, now - step * kSteps, now, step);
  return {};
}

net::ServerResponse query_page(const api::QueryContext& context,
                               const net::ServerRequest& request) {
  const std::string expr(request.param("g0.expr").value_or(""));
  std::string range(request.param("g0.range_input").value_or(""));
  if (range.empty()) range = "1h";
  std::string out = page_head("Query", 0);
  add_form(out, expr, range);
  Status status;
  const auto length = api::parse_duration_text(range);
  if (!length.ok() || *length <= Duration::zero()) {
    status = Status::invalid(fmt::format("the range {} is no positive duration such as 1h", range));
  } else if (!expr.empty()) {
    status = add_answer(out, context, expr, *length, request.closed);
  }
  out += notice_box("The query failed:", status.message());
  out += "</body></html>\n";
  return html_response(status.ok() ? 200 : 400, std::move(out));
}

}  // namespace

void add_query_page(api::Router& router, const api::QueryContext& context) {
  for (const char* path : {"/graph", "/query"})
    router.add({"GET", "HEAD"}, path, api::Lane::Query,
               [&context](const net::ServerRequest& request, const api::PathArgs&) {
                 return query_page(context, request);
               });
}

}  // namespace vagt::engine

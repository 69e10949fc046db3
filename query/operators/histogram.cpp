// histogram_quantile, histogram_fraction, histogram_quantiles on classic buckets, and the functions
// that only look at native histograms, which there are none of yet.
#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "query/functions.h"
#include "query/operators/buckets.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"

namespace vagt::query {
namespace {

constexpr std::string_view kBucketLabel = "le";
constexpr size_t kSortCost = 8;

struct Histograms {
  struct Member {
    size_t row;
    double upper;
  };
  std::vector<Labels> labels;  // without le
  std::vector<bool> drop_name;
  std::vector<std::vector<Member>> members;
};

// The bucket series of each histogram; those without a usable `le` are left out with a warning.
Histograms collect(const StepBatch& rows, Source argument, EvalContext& context) {
  Histograms found;
  // The name tells histograms apart too, so it is not without(le).
  std::unordered_map<Labels, size_t, LabelsHash> index;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const Labels& labels = rows.labels[row];
    const std::string_view le = labels.get(kBucketLabel);
    const std::optional<double> upper = parse_float(le);
    if (!upper) {
      std::string text = "bucket label \"le\" is missing or has a malformed value of " + quote(le);
      if (const std::string_view name = labels.get(kMetricName); !name.empty())
        text += " for metric name " + quote(name);
      context.warn(text, argument);
      continue;
    }
    Labels rest = LabelsBuilder(labels).erase(kBucketLabel).build();
    const auto [it, is_new] = index.try_emplace(rest, found.labels.size());
    if (is_new) {
      found.labels.push_back(std::move(rest));
      found.drop_name.push_back(rows.drop_name[row] != 0);
      found.members.emplace_back();
    }
    found.members[it->second].push_back({row, *upper});
  }
  return found;
}

// Calls `visit(histogram, step, buckets)` for each histogram and step with any bucket.
template <class Visit>
Status each_histogram(const Histograms& histograms, const StepBatch& rows, EvalContext& context,
                      Visit&& visit) {
  std::vector<Bucket> buckets;
  for (size_t h = 0; h < histograms.members.size(); ++h) {
    VAGT_CHECK_OK(context.check());
    for (size_t step = 0; step < rows.steps(); ++step) {
      if (!context.may_go_on(histograms.members[h].size() * kSortCost)) return context.check();
      buckets.clear();
      for (const Histograms::Member& member : histograms.members[h]) {
        if (rows.mask(member.row)[step] != 0)
          buckets.push_back({member.upper, rows.row(member.row)[step]});
      }
      if (!buckets.empty()) VAGT_CHECK_OK(visit(h, step, buckets));
    }
  }
  return {};
}

struct Request {
  enum class Kind { Quantile, Fraction } kind = Kind::Quantile;
  std::vector<std::vector<double>> arguments;  // quantiles, or lower and upper
  std::string label;                           // histogram_quantiles: where φ goes
  Source argument{};                           // of the vector
  StepGrid grid;
};

Result<std::unique_ptr<Table>> compute(Operator& input, const Request& request,
                                       EvalContext& context) {
  Table all(request.grid.count, context);
  VAGT_CHECK_OK(all.fill(input));
  const StepBatch& in = std::as_const(all).rows();
  const Histograms histograms = collect(in, request.argument, context);
  const bool delayed = context.options.delayed_name_removal;
  auto table = std::make_unique<Table>(request.grid.count, context);
  StepBatch& out = table->rows();
  const size_t results = request.kind == Request::Kind::Fraction ? 1 : request.arguments.size();
  const bool labelled = !request.label.empty();
  std::unordered_map<Labels, size_t, LabelsHash> by_labels;  // φ may change its label by step
  std::vector<std::vector<size_t>> rows(results,
                                        std::vector<size_t>(histograms.labels.size(), SIZE_MAX));
  const auto row_of = [&](size_t h, size_t which, size_t step) -> Result<size_t> {
    if (!labelled && rows[which][h] != SIZE_MAX) return rows[which][h];
    Labels labels = delayed ? histograms.labels[h] : without_metadata(histograms.labels[h]);
    if (labelled)
      labels = LabelsBuilder(labels)
                   .set(request.label, format_openmetrics(request.arguments[which][step]))
                   .build();
    size_t row = out.rows();
    if (labelled) {
      row = by_labels.try_emplace(labels, row).first->second;
    } else {
      rows[which][h] = row;
    }
    if (row == out.rows()) {
      out.add(std::move(labels), delayed);
      VAGT_CHECK_OK(table->recount());
    }
    return row;
  };
  std::vector<Bucket> scratch;
  bool collided = false;  // two histograms differed in nothing but the label φ went to
  const auto visit = [&](size_t h, size_t step, const std::vector<Bucket>& buckets) -> Status {
    for (size_t which = 0; which < results; ++which) {
      scratch = buckets;
      double v = 0;
      if (request.kind == Request::Kind::Fraction) {
        v = bucket_fraction(request.arguments[0][step], request.arguments[1][step], scratch);
      } else {
        Monotonicity forced;
        v = bucket_quantile(request.arguments[which][step], scratch, forced);
        if (forced.forced) {
          const std::string name(delayed ? histograms.labels[h].get(kMetricName) : "");
          context.forced_monotonic(name, request.argument, request.grid.at(step), forced.min_bucket,
                                   forced.max_bucket, forced.max_diff);
        }
      }
      VAGT_TRY(const size_t row, row_of(h, which, step));
      collided = collided || out.mask(row)[step] != 0;
      out.row(row)[step] = v;
      out.mask(row)[step] = 1;
    }
    return {};
  };
  VAGT_CHECK_OK(each_histogram(histograms, in, context, visit));
  if (collided) return Status::invalid("vector cannot contain metrics with the same labelset");
  return table;
}

void warn_quantiles(const std::vector<double>& q, Source at, EvalContext& context) {
  for (double v : q) {
    if (!(v >= 0 && v <= 1))
      context.warn("quantile value should be between 0 and 1, got " + format_float_g(v), at);
  }
}

}  // namespace

Result<OperatorPtr> make_histogram_call(const PlanNode& node, const StepGrid& grid,
                                        EvalContext& context) {
  const auto& call = std::get<Call>(node.expr->node);
  const std::string_view name = call.function->name;
  Request request;
  request.grid = grid;
  size_t vector_at = 0, first_scalar = 0, scalars = 0;
  if (name == "histogram_quantile") {
    vector_at = 1, scalars = 1;
  } else if (name == "histogram_fraction") {
    vector_at = 2, scalars = 2;
    request.kind = Request::Kind::Fraction;
  } else if (name == "histogram_quantiles") {
    first_scalar = 2, scalars = node.children.size() - 2;
    request.label = string_argument(node.children[1]);
  } else {
    // histogram_count, _sum, _avg, _stddev, _stdvar: floats have none of these.
    return make_deferred([grid, &context]() -> Result<std::unique_ptr<Table>> {
      return std::make_unique<Table>(grid.count, context);
    });
  }
  for (size_t i = first_scalar; i < first_scalar + scalars; ++i) {
    VAGT_TRY(std::vector<double> argument, eval_scalar(node.children[i], grid, context));
    if (request.kind == Request::Kind::Quantile)
      warn_quantiles(argument, call.args[i]->source, context);
    request.arguments.push_back(std::move(argument));
  }
  request.argument = call.args[vector_at]->source;
  VAGT_TRY(OperatorPtr input, make_operator(node.children[vector_at], grid, context));
  const std::shared_ptr<Operator> shared = std::move(input);
  return make_deferred([shared, request, &context] { return compute(*shared, request, context); });
}

}  // namespace vagt::query

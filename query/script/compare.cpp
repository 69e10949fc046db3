#include "query/script/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "base/number_text.h"
#include "base/regex.h"
#include "base/sample.h"

namespace vagt::query::script {
namespace {

using Points = std::vector<std::pair<Timestamp, double>>;
using SeriesMap = std::map<Labels, Points>;

Status differs(std::string text) { return Status::invalid(std::move(text)); }

std::string show(const Points& points) {
  std::string out;
  for (const auto& [t, v] : points) {
    if (!out.empty()) out += ' ';
    out += fmt::format("{}@{}", format_float_g(v), format_float_g(to_seconds(t)));
    if (out.size() > 200) return out + " …";
  }
  return out;
}

bool same_points(const Points& a, const Points& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && almost_equal(x.second, y.second);
  });
}

// The first difference in series order.
Status compare_maps(const SeriesMap& wanted, const SeriesMap& got) {
  for (const auto& [labels, points] : got)
    if (!wanted.contains(labels))
      return differs(fmt::format("unexpected series {} {}", labels.to_string(), show(points)));
  for (const auto& [labels, points] : wanted) {
    const auto found = got.find(labels);
    if (found == got.end())
      return differs(fmt::format("missing series {} {}", labels.to_string(), show(points)));
    if (!same_points(points, found->second))
      return differs(fmt::format("{}: want {}, got {}", labels.to_string(), show(points),
                                 show(found->second)));
  }
  return {};
}

// Expected values lie on the grid's steps.
SeriesMap expected_on(const EvalCommand& eval, const Grid& grid) {
  SeriesMap out;
  for (const SeriesText& series : eval.series) {
    Points points;
    for (size_t i = 0; i < series.values.size(); ++i)
      if (series.values[i])
        points.emplace_back(grid.start + grid.step * static_cast<int64_t>(i), *series.values[i]);
    if (!points.empty()) out[series.labels] = std::move(points);
  }
  return out;
}

Status compare_matrix(const EvalCommand& eval, const Matrix& matrix, const Grid& grid) {
  SeriesMap got;
  for (const Series& series : matrix) {
    Points points;
    for (size_t i = 0; i < series.samples.t.size(); ++i)
      points.emplace_back(series.samples.t[i], series.samples.v[i]);
    if (!points.empty() && !got.emplace(series.labels, std::move(points)).second)
      return differs("two series " + series.labels.to_string());
  }
  if (eval.scalar) return differs("want a scalar, got a matrix");
  return compare_maps(expected_on(eval, grid), got);
}

Status compare_vector(const EvalCommand& eval, const Vector& vector, bool ordered) {
  if (eval.scalar)
    return differs(fmt::format("want {}, got a vector", format_float_g(*eval.scalar)));
  const Grid instant{eval.grid.start, eval.grid.start, Duration(1)};
  SeriesMap got;
  for (const VectorSample& sample : vector)
    if (!got.emplace(sample.labels, Points{{eval.grid.start, sample.v}}).second)
      return differs("two series " + sample.labels.to_string());
  VAGT_CHECK_OK(compare_maps(expected_on(eval, instant), got));
  if (!ordered) return {};
  for (size_t i = 0; i < vector.size() && i < eval.series.size(); ++i)
    if (vector[i].labels != eval.series[i].labels)
      return differs(fmt::format("place {}: want {}, got {}", i + 1,
                                 eval.series[i].labels.to_string(), vector[i].labels.to_string()));
  return {};
}

Status compare_scalar(const EvalCommand& eval, double got) {
  if (!eval.scalar) return differs(fmt::format("want a vector, got {}", format_float_g(got)));
  if (almost_equal(*eval.scalar, got)) return {};
  return differs(fmt::format("want {}, got {}", format_float_g(*eval.scalar), format_float_g(got)));
}

bool fits(const Pattern& pattern, std::string_view text) {
  if (pattern.any) return true;
  if (!pattern.regex) return text == pattern.text;
  const Result<Regex> regex = Regex::compile(pattern.text, Regex::Anchor::None);
  return regex.ok() && regex->matches(text);
}

// Every annotation is expected, and every expectation met.
Status compare_list(std::string_view kind, const std::vector<Pattern>& wanted, bool none,
                    const std::vector<std::string>& got) {
  if (none && !got.empty()) return differs(fmt::format("unexpected {}: {}", kind, got.front()));
  if (wanted.empty()) return {};
  for (const std::string& text : got)
    if (std::none_of(wanted.begin(), wanted.end(), [&](const Pattern& p) { return fits(p, text); }))
      return differs(fmt::format("unexpected {}: {}", kind, text));
  for (const Pattern& pattern : wanted)
    if (std::none_of(got.begin(), got.end(),
                     [&](const std::string& text) { return fits(pattern, text); }))
      return differs(fmt::format("missing {}: {}", kind, pattern.any ? "any" : pattern.text));
  return {};
}

}  // namespace

bool almost_equal(double a, double b) {
  constexpr double kEpsilon = 1e-6, kMin = std::numeric_limits<double>::min(),
                   kMax = std::numeric_limits<double>::max();
  if (is_stale(a) || is_stale(b)) return is_stale(a) && is_stale(b);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  const double sum = std::abs(a) + std::abs(b), difference = std::abs(a - b);
  if (a == 0 || b == 0 || sum < kMin) return difference < kEpsilon * kMin;
  return difference / std::min(sum, kMax) < kEpsilon;
}

Status compare_value(const EvalCommand& eval, const Value& value) {
  if (const auto* text = std::get_if<StringValue>(&value)) {
    if (eval.string_result && *eval.string_result == text->text) return {};
    return differs(fmt::format("got the string {}", quote(text->text)));
  }
  if (eval.string_result)
    return differs(fmt::format("want the string {}", quote(*eval.string_result)));
  if (const auto* scalar = std::get_if<ScalarValue>(&value)) return compare_scalar(eval, scalar->v);
  if (const auto* vector = std::get_if<Vector>(&value))
    return compare_vector(eval, *vector, eval.ordered);
  const Matrix& matrix = std::get<Matrix>(value);
  if (!eval.instant) return compare_matrix(eval, matrix, eval.grid);
  if (!eval.matrix_grid)
    return differs("got a range vector, and the script does not say 'expect range vector'");
  return compare_matrix(eval, matrix, *eval.matrix_grid);
}

Status compare_step(const EvalCommand& eval, const Matrix& matrix, Timestamp at) {
  Vector vector;
  for (const Series& series : matrix)
    for (size_t i = 0; i < series.samples.t.size(); ++i)
      if (series.samples.t[i] == at) vector.push_back({series.labels, at, series.samples.v[i]});
  if (!eval.scalar) return compare_vector(eval, vector, false);
  if (vector.size() != 1) return differs(fmt::format("want one value, got {}", vector.size()));
  return compare_scalar(eval, vector[0].v);
}

Status compare_annotations(const EvalCommand& eval, const QueryResult& result) {
  VAGT_CHECK_OK(compare_list("warning", eval.warnings, eval.no_warnings, result.warnings));
  return compare_list("info", eval.infos, eval.no_infos, result.infos);
}

Status compare_failure(const EvalCommand& eval, std::string_view message) {
  for (const Pattern& pattern : eval.failures) {
    // Layers put their context in front of an error: the script gives its end.
    const bool contained = !pattern.regex && message.find(pattern.text) != std::string_view::npos;
    if (!contained && !fits(pattern, message))
      return differs(fmt::format("failed with {}, want {}", quote(message), quote(pattern.text)));
  }
  return {};
}

}  // namespace vagt::query::script

#include "tests/query/query_generator.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/labels.h"
#include "base/sample.h"

namespace vagt::query {

std::vector<NaiveSeries> QueryGenerator::data() {
  std::vector<NaiveSeries> all;
  for (const char* name : {"a_total", "b", "c"}) {
    for (const char* i : {"1", "2", "3"}) {
      for (const char* k : {"x", "y"}) {
        if (below(5) == 0) continue;
        all.push_back({{{"__name__", name}, {"i", i}, {"k", k}}, samples(below(4))});
      }
    }
    all.push_back({{{"__name__", name}}, samples(below(4))});
  }
  for (const char* i : {"1", "2"}) {
    for (const char* le : {"-1", "0.5", "1", "2.5", "+Inf"}) {
      if (below(9) == 0) continue;
      all.push_back(
          {{{"__name__", "h_bucket"}, {"i", i}, {"le", le}}, samples(below(8) == 0 ? 3 : 0)});
    }
  }
  std::sort(all.begin(), all.end(), [](const NaiveSeries& a, const NaiveSeries& b) {
    return Labels::from_map(a.labels) < Labels::from_map(b.labels);
  });
  return all;
}

NaiveSamples QueryGenerator::samples(size_t kind) {
  NaiveSamples out;
  double counter = 0;
  const int64_t gap_from = static_cast<int64_t>(below(kDataMs)), gap = below(3) == 0 ? 200'000 : 0;
  for (int64_t t = static_cast<int64_t>(below(3)) * 5000; t <= kDataMs; t += 15'000) {
    if (below(8) == 0 || (t >= gap_from && t < gap_from + gap)) continue;
    double v = 0;
    switch (kind) {
      case 0:  // a counter
        counter = below(12) == 0 ? 0 : counter + static_cast<double>(below(20));
        v = counter;
        break;
      case 1:  // anything
        v = std::normal_distribution<double>(0, 1e3)(random_);
        break;
      case 2:  // hard to add up
        v = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random_),
                       static_cast<int>(below(200)));
        break;
      default:  // odd values
        v = std::array{0.0, -0.0, 1.0, std::nan(""), HUGE_VAL, -HUGE_VAL, 1.7e308}[below(7)];
    }
    if (std::isnan(v)) v = normal_nan();
    if (below(20) == 0) v = stale_marker();
    out.emplace_back(t + static_cast<int64_t>(below(3)), v);
  }
  return out;
}

std::string QueryGenerator::vector(int depth) {
  if (depth <= 0) return selector();
  switch (below(ordered_ > 0 ? 9 : 14)) {
    case 0:
      return selector();
    case 1:
    case 2:
      return range_call(depth);
    case 3:
      return "(" + vector(depth - 1) + pick({" and on(i) ", " unless ", " or ", " * on(i, k) "}) +
             selector() + ")";
    case 4:
      return number_call(depth);
    case 5:
      return "(" + vector(depth - 1) + pick({" + ", " - ", " * ", " / ", " % ", " ^ ", " atan2 "}) +
             scalar() + ")";
    case 6:
      return "(" + scalar() + pick({" > bool ", " < bool ", " == bool ", " - ", " ^ ", " % "}) +
             vector(depth - 1) + ")";
    case 7:
      return "(" + vector(depth - 1) + pick({" > ", " < ", " != ", " == ", " >= ", " <= "}) +
             scalar() + ")";
    case 8:
      return "(" + scalar() + pick({" > ", " < ", " != "}) + vector(depth - 1) + ")";
    case 9:
    case 10:
      return aggregate(depth);
    case 11:
      return label_call(depth);
    case 12:
      return other_call(depth);
    default:
      return join(depth);
  }
}

std::string QueryGenerator::join(int depth) {
  if (below(2) == 0) {
    return "(" + vector(depth - 1) +
           pick({" and", " or", " unless", " +", " -", " *", " >", " < bool", " ^", " atan2"}) +
           pick({" ", " on(i) ", " ignoring(k) ", " on(i, k) ", " ignoring(i) "}) +
           vector(depth - 1) + ")";
  }
  if (below(3) == 0) {
    return "(" + vector(depth - 1) + pick({" +", " -", " >", " == bool"}) +
           pick({" ", " on(i, k) ", " ignoring(k) "}) +
           pick({"fill(0) ", "fill_left(-3) ", "fill_right(NaN) ", "fill_left(1) fill_right(2) "}) +
           vector(depth - 1) + ")";
  }
  return "(" + vector(depth - 1) + pick({" +", " /", " >", " == bool"}) +
         pick({" on(i) group_left", " on(i) group_left(k)", " on(k) group_right",
               " on(k) group_left(i)", " ignoring(k) group_left", " ignoring(k) group_right(k)",
               " ignoring(i) group_left(i, k)"}) +
         " " + aggregate(depth - 1) + ")";
}

std::string QueryGenerator::modifiers() {
  return pick({"", "", "", "", " offset 1m", " offset -30s", " @ 300", " @ 200 offset 20s",
               " @ start()", " @ end() offset 45s"});
}

std::string QueryGenerator::bare() {
  return pick({"a_total", "b", "c", "b{i=\"1\"}", "c{k!=\"x\"}", "a_total{i=~\"1|2\"}", "h_bucket",
               "{__name__=~\"b|c\",k=\"x\"}", "nothing{i=\"1\",k=~\"x|y\"}"});
}

std::string QueryGenerator::scalar() {
  return pick({"2", "0", "-1.5", "100", "0.3", "(time() / 100)", "scalar(b{i=\"1\",k=\"x\"})",
               "scalar(c offset 1m)", "-scalar(a_total{i=\"2\",k=\"y\"})", "NaN", "-Inf"});
}

std::string QueryGenerator::range(int depth) {
  if (ordered_ > 0 || below(3) != 0)
    return bare() + pick({"[1m]", "[100s]", "[45s]", "[5m]", "[16s]"}) + modifiers();
  return "(" + vector(depth - 1) + ")" + pick({"[2m:30s]", "[1m:7s]", "[3m:]", "[10s:1m]"}) +
         modifiers();
}

std::string QueryGenerator::range_call(int depth) {
  const std::string over = range(depth);
  switch (below(12)) {
    case 0:
      return "quantile_over_time(" + pick({"0.3", "0.9", "1", "0", "-1", scalar().c_str()}) + ", " +
             over + ")";
    case 1:
      return "predict_linear(" + over + ", " + pick({"60", "-30", "0", scalar().c_str()}) + ")";
    case 2:
      return "double_exponential_smoothing(" + over + pick({", 0.5, 0.3)", ", 0.01, 0.9)"});
    case 3:
      if (ordered_ == 0) return "absent_over_time(" + over + ")";
      break;
    default:
      break;
  }
  return pick({"rate",
               "increase",
               "delta",
               "irate",
               "idelta",
               "deriv",
               "changes",
               "resets",
               "sum_over_time",
               "avg_over_time",
               "min_over_time",
               "max_over_time",
               "count_over_time",
               "last_over_time",
               "first_over_time",
               "present_over_time",
               "stddev_over_time",
               "stdvar_over_time",
               "mad_over_time",
               "ts_of_min_over_time",
               "ts_of_max_over_time",
               "ts_of_first_over_time",
               "ts_of_last_over_time"}) +
         "(" + over + ")";
}

std::string QueryGenerator::number_call(int depth) {
  const std::string inner = vector(depth - 1);
  switch (below(7)) {
    case 0:
      return "-(" + inner + ")";
    case 1:
      return "timestamp(" + (below(2) == 0 ? selector() : inner) + ")";
    case 2:
      return pick({"clamp_min(", "clamp_max("}) + inner + ", " + scalar() + ")";
    case 3:
      return "clamp(" + inner + ", " + scalar() + ", " + scalar() + ")";
    case 4:
      return "round(" + inner + pick({")", ", 0.1)", ", 15)", ", -2)"});
    case 5:
      return pick({"minute", "hour", "day_of_week", "day_of_month", "day_of_year", "days_in_month",
                   "month", "year"}) +
             "(timestamp(" + inner + ") * 86399)";
    default:
      return pick({"abs",  "ceil", "floor", "exp",   "ln",    "log2", "log10", "sqrt",
                   "sgn",  "sin",  "cos",   "tan",   "asin",  "acos", "atan",  "sinh",
                   "cosh", "tanh", "asinh", "acosh", "atanh", "deg",  "rad"}) +
             "(" + inner + ")";
  }
}

std::string QueryGenerator::label_call(int depth) {
  const std::string inner = vector(depth - 1);
  if (below(2) == 0) {
    return "label_join(" + inner + pick({", \"n\"", ", \"k\"", ", \"i\""}) +
           pick({", \"-\", \"i\", \"k\")", ", \"\", \"k\", \"nope\", \"i\")", ", \"/\")"});
  }
  return "label_replace(" + inner + pick({", \"n\"", ", \"k\"", ", \"i\""}) +
         pick({", \"$1\"", ", \"v-${1}z\"", ", \"\"", ", \"fixed\"", ", \"$2$1\""}) +
         pick({", \"i\"", ", \"k\"", ", \"nope\""}) +
         pick({", \"(.*)\")", ", \"([12])\")", ", \"x|y\")", ", \"(.)(.*)\")", ", \"\")"});
}

std::string QueryGenerator::other_call(int depth) {
  switch (below(4)) {
    case 0:
      return "absent(" + vector(depth - 1) + ")";
    case 1:
      return "vector(" + scalar() + ")";
    case 2:
      return "histogram_quantile(" + pick({"0.5", "0.99", "0", "1", "2", scalar().c_str()}) + ", " +
             (below(2) == 0 ? "rate(h_bucket" + pick({"[1m]", "[5m]"}) + ")"
                            : pick({"h_bucket", "sum by (le) (h_bucket{i=\"1\"})"})) +
             ")";
    default:
      return pick({"sort(", "sort_desc("}) + vector(depth - 1) + ")";
  }
}

std::string QueryGenerator::aggregate(int depth) {
  const std::string by =
      pick({"", " by (i)", " by (i, k)", " without (k)", " by (k)", " without ()"});
  switch (below(4)) {
    case 0:
      return pick({"count", "group"}) + by + "(" + vector(depth - 1) + ")";
    case 1:
      return pick({"topk", "bottomk"}) + by + "(" + pick({"1", "2", "5", "0"}) + ", " +
             vector(depth - 1) + ")";
    case 2:
      return "count_values" + by + "(" + pick({"\"v\"", "\"k\""}) + ", " + vector(depth - 1) + ")";
    default:
      break;
  }
  // What is added up comes in series order on both sides, or the last bit may differ; and among
  // zeros of both signs the first one is the largest and the smallest.
  ++ordered_;
  const std::string inner = vector(depth - 1);
  --ordered_;
  if (below(6) == 0) return "limitk" + by + "(2, " + inner + ")";
  if (below(6) == 0)
    return "quantile" + by + "(" + pick({"0.4", "0", "1", "-1", scalar().c_str()}) + ", " + inner +
           ")";
  return pick({"sum", "avg", "min", "max", "stddev", "stdvar"}) + by + "(" + inner + ")";
}

}  // namespace vagt::query

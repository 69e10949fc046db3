// `anchored` and `smoothed` selectors: the window's edges are samples, taken or interpolated,
// instead of guesses.
#include <algorithm>

#include "query/operators/window.h"

namespace vagt::query {
namespace {

struct Edges {
  size_t first, last;  // samples the edges stand on or between
  double left, right;
};

// Between two neighbours; a counter that fell is taken to rise from zero.
double on_line(const Windows& w, size_t i, Timestamp at, bool counter) {
  const double y2 = w.v[i + 1];
  const double y1 = counter && y2 < w.v[i] ? 0 : w.v[i];
  return y1 + (y2 - y1) * static_cast<double>((at - w.t[i]).count()) /
                  static_cast<double>((w.t[i + 1] - w.t[i]).count());
}

// False: no sample after the range's start, or none before its end.
bool find_edges(const Windows& w, size_t lo, size_t hi, Timestamp start, Timestamp end,
                bool smoothed, bool counter, Edges& edges) {
  const auto begin = w.t.begin();
  const auto at = [&](size_t i) { return begin + static_cast<std::ptrdiff_t>(i); };
  size_t last = hi - 1;
  const auto after_start = std::upper_bound(at(lo), at(last), start);
  const auto first =
      std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(lo), after_start - begin - 1);
  if (smoothed) last = static_cast<size_t>(std::lower_bound(at(lo), at(last), end) - begin);
  if (w.t[last] <= start || w.t[static_cast<size_t>(first)] > end) return false;
  edges.first = static_cast<size_t>(first);
  edges.last = last;
  edges.left = smoothed && w.t[edges.first] < start ? on_line(w, edges.first, start, counter)
                                                    : w.v[edges.first];
  edges.right =
      smoothed && last > lo && w.t[last] > end ? on_line(w, last - 1, end, counter) : w.v[last];
  return true;
}

class ExtendedRate final : public WindowFunction {
 public:
  ExtendedRate(const WindowTimes& times, bool smoothed, bool counter, bool per_second)
      : times_(times), smoothed_(smoothed), counter_(counter), per_second_(per_second) {}

  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      const Timestamp start = times_.start(step), end = times_.end(step);
      Edges edges{};
      if (!find_edges(w, lo, hi, start, end, smoothed_, counter_, edges)) return;
      double change = edges.right - edges.left;
      if (counter_) change += lost_in_resets(w, edges, start, end);
      if (per_second_) change /= times_.range_seconds();
      row[step] = change;
      mask[step] = 1;
    });
  }

 private:
  static double lost_in_resets(const Windows& w, const Edges& edges, Timestamp start,
                               Timestamp end) {
    // Samples on the edges are the edges' own.
    size_t first = edges.first, past = edges.last + 1;
    if (w.t[edges.first] <= start) ++first;
    if (w.t[edges.last] >= end) --past;
    double lost = 0, before = edges.left;
    for (size_t i = first; i < past; ++i) {
      if (w.v[i] < before) lost += before;
      before = w.v[i];
    }
    if (edges.right < before) lost += before;
    return lost;
  }

  const WindowTimes times_;
  const bool smoothed_, counter_, per_second_;
};

// changes, resets of an anchored selector: counted from the sample at or before the range's start.
class AnchoredCount final : public WindowFunction {
 public:
  AnchoredCount(std::string_view name, const WindowTimes& times)
      : times_(times), count_(make_rate_function(name, times, {})) {}

  void run(const Windows& w, std::span<double> row, std::span<uint8_t> mask) override {
    lo_.assign(w.lo.begin(), w.lo.end());
    hi_.assign(w.hi.begin(), w.hi.end());
    each_window(w, [&](size_t step, size_t lo, size_t hi) {
      Edges edges{};
      if (find_edges(w, lo, hi, times_.start(step), times_.end(step), false, false, edges)) {
        lo_[step] = static_cast<uint32_t>(edges.first);
      } else {
        hi_[step] = lo_[step];
      }
    });
    count_->run({w.context, w.t, w.v, lo_, hi_}, row, mask);
  }

 private:
  const WindowTimes times_;
  const WindowFunctionPtr count_;
  std::vector<uint32_t> lo_, hi_;
};

}  // namespace

WindowFunctionPtr make_extended_function(std::string_view name, const WindowTimes& times,
                                         bool smoothed) {
  if (name == "rate") return std::make_unique<ExtendedRate>(times, smoothed, true, true);
  if (name == "increase") return std::make_unique<ExtendedRate>(times, smoothed, true, false);
  if (name == "delta") return std::make_unique<ExtendedRate>(times, smoothed, false, false);
  if (name == "changes" || name == "resets") return std::make_unique<AnchoredCount>(name, times);
  return nullptr;
}

}  // namespace vagt::query

// Random series and random queries over them.
#pragma once

#include <initializer_list>
#include <random>
#include <string>

#include "tests/query/naive_evaluator.h"

namespace vagt::query {

class QueryGenerator {
 public:
  static constexpr int64_t kDataMs = 600'000;  // samples lie in [0, kDataMs]

  explicit QueryGenerator(uint32_t seed) : random_(seed) {}

  // Counters with resets, gauges, sums that are hard to add up, odd values, a histogram; with gaps,
  // stale markers and unsteady times. In label order.
  std::vector<NaiveSeries> data();
  // An expression of instant vectors, at most `depth` operators high. Leaves out what the language
  // leaves open, such as the order in which series are added up.
  std::string vector(int depth);
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  std::string pick(std::initializer_list<const char*> words) {
    return *(words.begin() + static_cast<std::ptrdiff_t>(below(words.size())));
  }

 private:
  NaiveSamples samples(size_t kind);
  std::string modifiers();
  std::string bare();
  std::string selector() { return bare() + modifiers(); }
  std::string scalar();
  std::string range(int depth);
  std::string range_call(int depth);
  std::string number_call(int depth);
  std::string label_call(int depth);
  std::string other_call(int depth);
  std::string join(int depth);
  std::string aggregate(int depth);

  std::mt19937 random_;
  int ordered_ = 0;  // inside: only what keeps the order of series
};

}  // namespace vagt::query

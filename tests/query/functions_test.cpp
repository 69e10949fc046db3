#include "query/functions.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace vagt::query {
namespace {

TEST(Functions, TableIsSortedAndUnique) {
  const auto all = all_functions();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (size_t i = 1; i < all.size(); ++i) EXPECT_NE(all[i - 1].name, all[i].name);
  for (const FunctionSignature& f : all) EXPECT_EQ(find_function(f.name), &f);
}

TEST(Functions, LooksUpByExactName) {
  EXPECT_EQ(find_function("Rate"), nullptr);
  EXPECT_EQ(find_function(""), nullptr);
  EXPECT_EQ(find_function("holt_winters"), nullptr);
  const FunctionSignature* join = find_function("label_join");
  ASSERT_NE(join, nullptr);
  EXPECT_EQ(join->variadic, -1);
  EXPECT_EQ(join->args.size(), 4u);
}

TEST(Functions, ExperimentalOnesAreMarked) {
  for (const char* name :
       {"double_exponential_smoothing", "sort_by_label", "sort_by_label_desc", "mad_over_time",
        "info", "histogram_quantiles", "ts_of_min_over_time", "ts_of_max_over_time",
        "ts_of_first_over_time", "ts_of_last_over_time", "start", "end", "range", "step", "min_of",
        "max_of", "start_timestamp"}) {
    const FunctionSignature* f = find_function(name);
    ASSERT_NE(f, nullptr) << name;
    EXPECT_TRUE(f->experimental) << name;
  }
  for (const char* name : {"first_over_time", "histogram_avg", "histogram_fraction", "rate"})
    EXPECT_FALSE(find_function(name)->experimental) << name;
}

}  // namespace
}  // namespace vagt::query

// What is printed, on one line or many, parses back to the very tree, field by field.
#include <gtest/gtest.h>

#include <array>

#include "query/parse.h"
#include "tests/query/parse_support.h"
#include "tests/query/property_seeds.h"
#include "tests/query/tree_generator.h"

namespace vagt::query {
namespace {

void expect_reads_back(const Expr& tree, const std::string& text) {
  const Result<ExprPtr> parsed = parse_expr(text, all_features());
  ASSERT_TRUE(parsed.ok()) << text << "\n" << parsed.error().message();
  ASSERT_EQ(tree_difference(tree, **parsed), "") << text;
  ASSERT_EQ(print_expr(**parsed), print_expr(tree));
}

TEST(TreeProperty, PrintingAndParsingIsTheIdentity) {
  const uint32_t seeds = property_seeds(2000);
  for (uint32_t seed = 1; seed <= seeds && !::testing::Test::HasFatalFailure(); ++seed) {
    TreeGenerator generator(seed);
    const ExprPtr tree = generator.tree(
        std::array{ValueType::Vector, ValueType::Vector, ValueType::Vector, ValueType::Scalar,
                   ValueType::Matrix, ValueType::String}[seed % 6],
        static_cast<int>(seed % 7));
    expect_reads_back(*tree, print_expr(*tree));
    expect_reads_back(*tree, format_expr(*tree));
  }
}

// The comparison itself sees a difference in any field.
TEST(TreeProperty, DifferentTreesDiffer) {
  const char* texts[] = {"a",
                         "b",
                         "a{x=\"1\"}",
                         "a{x=\"2\"}",
                         "a{x!=\"1\"}",
                         "a offset 1m",
                         "a offset -1m",
                         "a @ 1",
                         "a @ 2",
                         "a @ start()",
                         "a @ end()",
                         "a smoothed",
                         "a offset (1m * 2)",
                         "a offset (2m * 1)",
                         "rate(a[1m])",
                         "rate(a[2m])",
                         "rate(a[1m * 2])",
                         "rate(a[1m:])",
                         "rate(a[1m:1m])",
                         "rate(a[1m:2m])",
                         "rate(a[1m:] offset 1m)",
                         "irate(a[1m])",
                         "sum(a)",
                         "sum by (x) (a)",
                         "sum by (y) (a)",
                         "sum without (x) (a)",
                         "topk(1, a)",
                         "topk(2, a)",
                         "a + b",
                         "a - b",
                         "a + on () b",
                         "a + on (x) b",
                         "a + ignoring (x) b",
                         "a + on (x) group_left () b",
                         "a + on (x) group_right () b",
                         "a + on (x) group_left (y) b",
                         "a + fill_left (1) b",
                         "a + fill_right (1) b",
                         "a + fill (1) b",
                         "a + fill (2) b",
                         "a > b",
                         "a > bool b",
                         "-a",
                         "+a",
                         "(a)",
                         "1",
                         "2",
                         "-0",
                         "0",
                         "60",
                         "1m",
                         "\"a\"",
                         "\"b\"",
                         "NaN"};
  for (const char* left : texts) {
    for (const char* right : texts) {
      const ExprPtr a = parse_expr(left, all_features()).value();
      const ExprPtr b = parse_expr(right, all_features()).value();
      EXPECT_EQ(tree_difference(*a, *b).empty(), left == right) << left << " " << right;
    }
  }
}

}  // namespace
}  // namespace vagt::query

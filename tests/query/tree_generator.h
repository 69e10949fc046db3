// Random syntax trees, typed and bracketed as the parser would have made them.
#pragma once

#include <random>

#include "query/ast.h"

namespace vagt::query {

class TreeGenerator {
 public:
  explicit TreeGenerator(uint32_t seed) : random_(seed) {}

  // A tree of the type, at most `depth` operators high (brackets not counted).
  ExprPtr tree(ValueType type, int depth);

 private:
  size_t below(size_t n) { return random_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return *(list.begin() + static_cast<std::ptrdiff_t>(below(list.size())));
  }

  ExprPtr scalar(int depth);
  ExprPtr vector(int depth);
  ExprPtr matrix(int depth);
  ExprPtr number();
  ExprPtr string();
  ExprPtr vector_selector();
  ExprPtr call(ValueType returns, int depth);
  ExprPtr info(int depth);
  ExprPtr aggregate(int depth);
  ExprPtr binary(ValueType type, int depth);
  ExprPtr unary(ValueType type, int depth);

  VectorSelector selection();
  VectorMatching matching(BinaryOp op);
  TimeShift shift();
  DurationExprPtr duration_tree(int depth);
  std::string text(size_t most);
  std::string label_name();
  std::vector<std::string> label_names();
  double any_number();
  Duration positive_duration();

  std::mt19937 random_;
};

// Equal but for where in the text things stand. The first difference is put into words; "" if there
// is none.
std::string tree_difference(const Expr& a, const Expr& b);

}  // namespace vagt::query

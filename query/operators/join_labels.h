// The labels of what two matched series make together.
#pragma once

#include <string>
#include <vector>

#include "base/labels.h"
#include "query/ast.h"

namespace vagt::query {

class ResultLabels {
 public:
  ResultLabels(const Binary& binary, bool delayed_name_removal);

  // `many` is the left series unless group_right made it the right one.
  Labels of(const Labels& many, const Labels& one) const;
  // True: the name stays for now and goes at the end.
  bool flags_name() const { return flags_name_; }

 private:
  bool keeps(std::string_view name) const;

  const VectorMatching& matching_;
  std::vector<std::string> names_, include_;  // sorted
  const bool one_to_one_;
  bool drops_name_ = false, flags_name_ = false;
};

}  // namespace vagt::query

// Which labels the elements of an expression can carry.
#pragma once

#include <set>
#include <string>

#include "query/ast.h"

namespace vagt::rules {

struct LabelFlow {
  bool is_open = true;          // any label that is not in `gone`
  std::set<std::string> names;  // not open: these at most
  std::set<std::string> gone;   // open: all but these

  bool may_have(const std::string& label) const {
    return is_open ? !gone.contains(label) : names.contains(label);
  }
};

LabelFlow labels_of(const query::Expr& expr);

}  // namespace vagt::rules

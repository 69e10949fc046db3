// Columns as Go's tabwriter aligns them: each as wide as its widest cell plus two blanks, the last
// too.
#pragma once

#include <string>
#include <vector>

namespace vagt::cli {

class Table {
 public:
  // All rows have the header's number of cells.
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace vagt::cli

// What evaluation is made of: operators that hand rows of steps to each other.
//
// Everything is series-major and streams: a row is one series over all steps of the grid, and an
// operator takes rows in, changes them and passes them on, so that a query holds one batch per
// operator and not its input. Labels travel with their rows instead of in a list beforehand: the
// store is then walked once, and group and match indexes are still computed once per series.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/labels.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::query {

// The instants at which an expression is evaluated.
struct StepGrid {
  Timestamp start{};
  Duration step{0};
  size_t count = 1;

  Timestamp at(size_t i) const { return start + step * static_cast<int64_t>(i); }
  Timestamp last() const { return at(count - 1); }
};

// Rows of equal length. A cell has a value where `present` is 1.
class StepBatch {
 public:
  explicit StepBatch(size_t steps = 0) : steps_(steps) {}

  void reset(size_t steps) {
    steps_ = steps;
    labels.clear();
    drop_name.clear();
    values.clear();
    present.clear();
  }
  // A row without values.
  size_t add(Labels row_labels, bool row_drop_name) {
    labels.push_back(std::move(row_labels));
    drop_name.push_back(row_drop_name ? 1 : 0);
    values.resize(labels.size() * steps_);
    present.resize(labels.size() * steps_);
    return labels.size() - 1;
  }
  void remove_last() {
    labels.pop_back();
    drop_name.pop_back();
    values.resize(labels.size() * steps_);
    present.resize(labels.size() * steps_);
  }

  size_t steps() const { return steps_; }
  size_t rows() const { return labels.size(); }
  bool full() const { return rows() * steps_ >= kCells; }
  std::span<double> row(size_t i) { return {values.data() + i * steps_, steps_}; }
  std::span<const double> row(size_t i) const { return {values.data() + i * steps_, steps_}; }
  std::span<uint8_t> mask(size_t i) { return {present.data() + i * steps_, steps_}; }
  std::span<const uint8_t> mask(size_t i) const { return {present.data() + i * steps_, steps_}; }

  std::vector<Labels> labels;
  std::vector<uint8_t> drop_name;  // 1: the metric name goes at the end (delayed name removal)
  std::vector<double> values;      // rows × steps
  std::vector<uint8_t> present;    // the same shape

 private:
  static constexpr size_t kCells = 8192;  // a batch stays in the L2 cache
  size_t steps_ = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;
  // Replaces `out` with the next rows, at least one. False: no more, and `out` is empty.
  virtual Result<bool> next(StepBatch& out) = 0;
};
using OperatorPtr = std::unique_ptr<Operator>;

inline bool any_present(std::span<const uint8_t> mask) {
  for (uint8_t cell : mask) {
    if (cell != 0) return true;
  }
  return false;
}

}  // namespace vagt::query

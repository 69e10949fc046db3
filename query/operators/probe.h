// What nodes of a traced run cost.
#pragma once

#include <chrono>

#include "query/evaluator.h"
#include "query/operators/operator.h"

namespace vagt::query {

// Adds the time of its life to a node. Real time, whatever clock the run's limits have.
class StopWatch {
 public:
  explicit StopWatch(NodeCost& cost) : cost_(cost), begin_(std::chrono::steady_clock::now()) {}
  ~StopWatch() {
    cost_.seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;

 private:
  NodeCost& cost_;
  const std::chrono::steady_clock::time_point begin_;
};

// Counts what passes and how long it took. A range selector's time is counted where it reads.
OperatorPtr make_probe(OperatorPtr input, NodeCost& cost);

}  // namespace vagt::query

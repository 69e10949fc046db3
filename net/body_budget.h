// What the bodies of all transfers under way may hold together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace vagt::net {

// Any thread.
class BodyBudget {
 public:
  explicit BodyBudget(uint64_t limit) : limit_(limit) {}  // 0: no limit

  bool take(uint64_t bytes) {
    uint64_t taken = taken_.load(std::memory_order_relaxed);
    do {
      if (!has_room(taken, bytes)) return false;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  bool has_room(uint64_t bytes) const {
    return has_room(taken_.load(std::memory_order_relaxed), bytes);
  }

 private:
  bool has_room(uint64_t taken, uint64_t bytes) const {
    return limit_ == 0 || (taken <= limit_ && bytes <= limit_ - taken);
  }
  const uint64_t limit_;
  std::atomic<uint64_t> taken_{0};
};

// One body's part of the budget; given back with it. One thread at a time.
class BodyShare {
 public:
  // The first `free` bytes are not counted: small bodies get through when large ones have filled
  // the budget.
  BodyShare(std::shared_ptr<BodyBudget> budget, uint64_t free)
      : budget_(std::move(budget)), free_(free) {}
  ~BodyShare() { budget_->give_back(taken_); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  bool can_grow_to(uint64_t bytes) const {
    return counted(bytes) <= taken_ || budget_->has_room(counted(bytes) - taken_);
  }
  // Whether the body may hold `bytes` in all; false: the budget is spent, nothing has changed.
  bool grow_to(uint64_t bytes) {
    if (counted(bytes) <= taken_) return true;
    if (!budget_->take(counted(bytes) - taken_)) return false;
    taken_ = counted(bytes);
    return true;
  }

 private:
  uint64_t counted(uint64_t bytes) const { return bytes - std::min(bytes, free_); }
  const std::shared_ptr<BodyBudget> budget_;
  const uint64_t free_;
  uint64_t taken_ = 0;
};

}  // namespace vagt::net

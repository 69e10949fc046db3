// The slots that have a label pair, in memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unordered_set>
#include <vector>

#include "tsdb/series.h"

namespace vagt::tsdb {

// Ascending slots as varint differences, a byte or two each: slots are given out in order, and the
// series of a page come together. What comes out of order (a slot used again) waits beside them.
// Not thread-safe.
class Postings {
 public:
  void add(Slot slot);  // not yet in it
  void remove(const std::unordered_set<Slot>& gone);
  size_t size() const { return count_ + (late_ != nullptr ? late_->size() : 0); }
  bool empty() const { return size() == 0; }
  void append_to(std::vector<Slot>& out) const;  // ascending
  void tidy();                                   // gives up the room for growing
  size_t memory_bytes() const;                   // beyond sizeof(Postings)

 private:
  struct Freed {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  void push(Slot slot);  // beyond last_
  void rebuild(const std::vector<Slot>& slots);
  void resize(uint32_t capacity);

  std::unique_ptr<char, Freed> bytes_;  // the differences; the first slot needs none
  std::unique_ptr<std::vector<Slot>> late_;
  uint32_t used_ = 0, capacity_ = 0;
  uint32_t count_ = 0;
  Slot first_ = 0, last_ = 0;
};

}  // namespace vagt::tsdb

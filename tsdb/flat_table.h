// Numbers found by a hash: one flat array, a cache line a lookup. What a number stands for the
// caller knows, and judges.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace vagt::tsdb {

// Open addressing; a number is below kDeleted, and in it once. Not thread-safe.
class FlatTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kDeleted = UINT32_MAX - 1;

  // The first number of that hash for which `equal(number)`; kNone: there is none.
  template <class Equal>
  uint32_t find(uint64_t full_hash, Equal equal) const {
    if (cells_.empty()) return kNone;
    const uint32_t hash = shorten(full_hash);
    for (size_t i = hash & mask();; i = (i + 1) & mask()) {
      const Cell& cell = cells_[i];
      if (cell.number == kNone) return kNone;
      if (cell.number != kDeleted && cell.hash == hash && equal(cell.number)) return cell.number;
    }
  }
  void add(uint64_t full_hash, uint32_t number) {
    if ((used_ + 1) * 4 > cells_.size() * 3) grow();
    place({number, shorten(full_hash)});
    ++size_;
    ++used_;
  }
  void erase(uint64_t full_hash, uint32_t number) {
    if (cells_.empty()) return;
    for (size_t i = shorten(full_hash) & mask(); cells_[i].number != kNone; i = (i + 1) & mask()) {
      if (cells_[i].number != number) continue;
      cells_[i].number = kDeleted;
      --size_;
      return;
    }
  }
  // For many at once, whose hashes are not at hand.
  template <class Gone>
  void erase_if(Gone gone) {
    for (Cell& cell : cells_) {
      if (cell.number >= kDeleted || !gone(cell.number)) continue;
      cell.number = kDeleted;
      --size_;
    }
  }
  template <class F>
  void for_each(F f) const {
    for (const Cell& cell : cells_)
      if (cell.number < kDeleted) f(cell.number);
  }
  size_t size() const { return size_; }
  size_t memory_bytes() const { return cells_.capacity() * sizeof(Cell); }

 private:
  struct Cell {
    uint32_t number = kNone;
    uint32_t hash = 0;
  };
  static uint32_t shorten(uint64_t hash) { return static_cast<uint32_t>(hash ^ hash >> 32); }
  size_t mask() const { return cells_.size() - 1; }
  void place(Cell cell) {
    size_t at = cell.hash & mask();
    while (cells_[at].number != kNone) at = (at + 1) & mask();
    cells_[at] = cell;
  }
  void grow() {
    const size_t wanted = std::max<size_t>(64, size_ * 2);
    size_t capacity = 64;
    while (capacity < wanted) capacity *= 2;
    const std::vector<Cell> old = std::exchange(cells_, std::vector<Cell>(capacity));
    for (const Cell& cell : old)
      if (cell.number < kDeleted) place(cell);
    used_ = size_;
  }

  std::vector<Cell> cells_;
  size_t size_ = 0, used_ = 0;  // used: deleted ones too
};

}  // namespace vagt::tsdb

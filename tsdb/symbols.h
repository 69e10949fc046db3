// Interned strings: a label name or value of the head is stored once and named by a number, and so
// is a pair of both; a series keeps the numbers of its pairs.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tsdb/bytes.h"
#include "tsdb/flat_table.h"

namespace vagt::tsdb {

using Symbol = uint32_t;

struct SymbolPair {
  Symbol name = 0, value = 0;
  friend bool operator==(const SymbolPair&, const SymbolPair&) = default;
};

using PairId = uint32_t;  // names a label pair of the head: most series share most of theirs

// Counts references and frees a string with its last one, so that memory follows the active series.
// Not thread-safe.
class SymbolTable {
 public:
  Symbol acquire(std::string_view text) {
    Symbol symbol = find(text);
    if (symbol != kNone) {
      ++entries_[symbol].references;
      return symbol;
    }
    if (!free_.empty()) {
      symbol = free_.back();
      free_.pop_back();
    } else {
      symbol = static_cast<Symbol>(entries_.size());
      entries_.emplace_back();
    }
    entries_[symbol] = {std::string(text), 1};
    numbers_.add(hash(text), symbol);
    return symbol;
  }
  void release(Symbol symbol) {
    Entry& entry = entries_[symbol];
    if (--entry.references > 0) return;
    numbers_.erase(hash(entry.text), symbol);
    entry.text = std::string();
    free_.push_back(symbol);
  }
  std::string_view text(Symbol symbol) const { return entries_[symbol].text; }
  // kNone: no series has it.
  static constexpr Symbol kNone = FlatTable::kNone;
  Symbol find(std::string_view text) const {
    return numbers_.find(hash(text), [&](Symbol symbol) { return entries_[symbol].text == text; });
  }
  static size_t hash(std::string_view text) { return std::hash<std::string_view>()(text); }
  size_t size() const { return numbers_.size(); }
  // About; without what the strings hold.
  size_t memory_bytes() const { return entries_.size() * sizeof(Entry) + numbers_.memory_bytes(); }

 private:
  struct Entry {
    std::string text;
    uint32_t references = 0;
  };
  std::deque<Entry> entries_;
  FlatTable numbers_;
  std::vector<Symbol> free_;
};

// The label pairs of a series, in the order of its labels; they are kept as varints.
class PairRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = PairId;
    using difference_type = std::ptrdiff_t;
    using pointer = const PairId*;
    using reference = PairId;
    Iterator(const char* at, size_t left) : at_(at), left_(left) { read(); }
    PairId operator*() const { return id_; }
    Iterator& operator++() {
      --left_;
      read();
      return *this;
    }
    bool operator==(const Iterator& other) const { return left_ == other.left_; }

   private:
    void read() {
      if (left_ == 0) return;
      id_ = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<uint8_t>(*at_++);
        id_ |= static_cast<PairId>(byte & 0x7f) << shift;
        if (byte < 0x80) return;
      }
    }
    const char* at_;
    size_t left_;
    PairId id_ = 0;
  };
  PairRange() = default;
  PairRange(const char* bytes, size_t count) : bytes_(bytes), count_(count) {}
  Iterator begin() const { return {bytes_, count_}; }
  Iterator end() const { return {nullptr, 0}; }
  size_t size() const { return count_; }

 private:
  const char* bytes_ = nullptr;
  size_t count_ = 0;
};

// Where PairRanges are kept, without an allocation each; what is given back serves the next of that
// length. Not thread-safe.
class PairLists {
 public:
  static constexpr size_t kMostPairs = UINT16_MAX;
  // nullopt: 4 GiB are in use.
  std::optional<uint32_t> keep(std::span<const PairId> ids) {
    size_t bytes = 0;
    for (const PairId id : ids) bytes += varint_size(id);
    if (free_.size() <= bytes) free_.resize(bytes + 1);
    std::optional<uint32_t> place;
    if (auto& free = free_[bytes]; !free.empty()) {
      place = free.back();
      free.pop_back();
    } else {
      place = carve(bytes);
    }
    if (!place) return place;
    char* at = address(*place);
    for (PairId id : ids) {
      for (; id >= 0x80; id >>= 7) *at++ = static_cast<char>(id | 0x80);
      *at++ = static_cast<char>(id);
    }
    return place;
  }
  PairRange at(uint32_t place, size_t count) const { return {address(place), count}; }
  void give_back(uint32_t place, size_t count) {
    size_t bytes = 0;
    for (const PairId id : at(place, count)) bytes += varint_size(id);
    if (bytes > 0) free_[bytes].push_back(place);
  }
  size_t memory_bytes() const {
    return blocks_.empty() ? 0 : (blocks_.size() - 1) * kBlock + used_;
  }

 private:
  static constexpr unsigned kBits = 19;
  static constexpr size_t kBlock = 1u << kBits;  // bytes; the longest list fits
  char* address(uint32_t place) const {
    return blocks_[place >> kBits].get() + (place & (kBlock - 1));
  }
  std::optional<uint32_t> carve(size_t n) {
    if (blocks_.empty() || used_ + n > kBlock) {
      if (blocks_.size() == size_t{1} << (32 - kBits)) return std::nullopt;
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
      used_ = 0;
    }
    const size_t place = ((blocks_.size() - 1) << kBits) + used_;
    used_ += n;
    return static_cast<uint32_t>(place);
  }
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t used_ = 0;                          // of the last block
  std::vector<std::vector<uint32_t>> free_;  // by length
};

}  // namespace vagt::tsdb

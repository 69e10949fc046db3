// Interned strings: a label name or value of the head is stored once and named by a number.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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
    if (const auto it = numbers_.find(text); it != numbers_.end()) {
      ++entries_[it->second].references;
      return it->second;
    }
    Symbol symbol;
    if (!free_.empty()) {
      symbol = free_.back();
      free_.pop_back();
    } else {
      symbol = static_cast<Symbol>(entries_.size());
      entries_.emplace_back();
    }
    entries_[symbol] = {std::string(text), 1};
    numbers_.emplace(entries_[symbol].text, symbol);
    return symbol;
  }
  void release(Symbol symbol) {
    Entry& entry = entries_[symbol];
    if (--entry.references > 0) return;
    numbers_.erase(entry.text);
    entry.text = std::string();
    free_.push_back(symbol);
  }
  std::string_view text(Symbol symbol) const { return entries_[symbol].text; }
  // kNone: no series has it.
  static constexpr Symbol kNone = UINT32_MAX;
  Symbol find(std::string_view text) const {
    const auto it = numbers_.find(text);
    return it == numbers_.end() ? kNone : it->second;
  }
  size_t size() const { return numbers_.size(); }

 private:
  struct Entry {
    std::string text;
    uint32_t references = 0;
  };
  std::deque<Entry> entries_;  // never moves: the keys below point into it
  std::unordered_map<std::string_view, Symbol> numbers_;
  std::vector<Symbol> free_;
};

}  // namespace vagt::tsdb

// The head's index: labels → slot, and label pair → slots.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "tsdb/flat_table.h"
#include "tsdb/postings.h"
#include "tsdb/series.h"
#include "tsdb/symbols.h"

namespace vagt::tsdb {

// Not thread-safe: its owner guards it.
class HeadIndex {
 public:
  // `pairs_of` gives the label pairs of a slot.
  using PairsOf = std::function<PairRange(Slot)>;
  explicit HeadIndex(PairsOf pairs_of) : pairs_of_(std::move(pairs_of)) {}

  static constexpr Slot kNone = FlatTable::kNone;
  Slot find(const Labels& labels) const;
  // Label pairs for a new series; the caller stores them where `pairs_of` finds them, then calls
  // add() with them. Good until the next call.
  std::span<const PairId> intern(const Labels& labels);
  void add(Slot slot, uint64_t hash, std::span<const PairId> pairs);
  void release(std::span<const PairId> pairs);  // of intern(), when nothing is added
  // Their label pairs are released; `pairs_of` must still work.
  void remove(std::span<const Slot> slots);

  // Slots whose labels match, ascending.
  std::vector<Slot> select(std::span<const Matcher> matchers) const;
  Labels labels(Slot slot) const;
  void tidy();  // postings give up their room for growing
  PairRange pairs_of(Slot slot) const { return pairs_of_(slot); }
  SymbolPair pair(PairId id) const { return pairs_[id].pair; }
  PairId find_pair(SymbolPair pair) const {  // kNoPair: no series has it
    return pair_ids_.find(pair_hash(pair.name, text(pair.value)),
                          [&](PairId id) { return pairs_[id].pair == pair; });
  }
  static constexpr PairId kNoPair = FlatTable::kNone;
  std::string_view text(Symbol symbol) const { return symbols_.text(symbol); }
  size_t size() const { return table_.size(); }
  size_t symbols() const { return symbols_.size(); }
  size_t memory_bytes() const;  // about
  template <class F>
  void for_each(F f) const {
    table_.for_each(f);
  }

 private:
  struct Pair {
    SymbolPair pair;
    Postings postings;
    uint32_t references = 0;
  };
  static uint64_t pair_hash(Symbol name, std::string_view value) {
    return SymbolTable::hash(value) + name * 0x9E3779B97F4A7C15ULL;
  }
  bool equal(Slot slot, const Labels& labels) const;
  PairId acquire_pair(const Label& label, Symbol name);
  void release_pair(PairId id);
  bool choose_base(std::span<const Matcher> matchers, std::vector<Slot>& base) const;
  bool collect_values(const Matcher& matcher, Symbol name, std::vector<Slot>& out) const;

  const PairsOf pairs_of_;
  SymbolTable symbols_;
  FlatTable table_;  // slots by the hash of their labels
  std::vector<Pair> pairs_;
  std::vector<PairId> free_pairs_;
  std::vector<PairId> before_;  // of the series last interned; some may be free by now
  FlatTable pair_ids_;
  std::unordered_map<Symbol, std::unordered_set<Symbol>> values_;  // of a name
};

}  // namespace vagt::tsdb

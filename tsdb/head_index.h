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

  static constexpr Slot kNone = UINT32_MAX;
  Slot find(const Labels& labels) const;
  // Label pairs for a new series; the caller stores them where `pairs_of` finds them, then calls
  // add().
  std::vector<PairId> intern(const Labels& labels);
  void add(Slot slot, uint64_t hash);
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
    const auto it = pair_ids_.find(key(pair));
    return it == pair_ids_.end() ? kNoPair : it->second;
  }
  static constexpr PairId kNoPair = UINT32_MAX;
  std::string_view text(Symbol symbol) const { return symbols_.text(symbol); }
  size_t size() const { return size_; }
  size_t symbols() const { return symbols_.size(); }
  size_t memory_bytes() const;  // about
  template <class F>
  void for_each(F f) const {
    for (const Slot slot : table_)
      if (slot < kDeleted) f(slot);
  }

 private:
  struct Pair {
    SymbolPair pair;
    Postings postings;
    uint32_t references = 0;
  };
  static constexpr Slot kDeleted = UINT32_MAX - 1;
  static uint64_t key(SymbolPair pair) { return uint64_t{pair.name} << 32 | pair.value; }
  bool equal(Slot slot, const Labels& labels) const;
  void grow();
  PairId acquire_pair(const Label& label);
  void release_pair(PairId id);
  bool choose_base(std::span<const Matcher> matchers, std::vector<Slot>& base) const;
  bool collect_values(const Matcher& matcher, Symbol name, std::vector<Slot>& out) const;

  const PairsOf pairs_of_;
  SymbolTable symbols_;
  std::vector<Slot> table_;       // open addressing; kNone: empty, kDeleted: was used
  std::vector<uint32_t> hashes_;  // beside it
  size_t size_ = 0, used_ = 0;
  std::vector<Pair> pairs_;
  std::vector<PairId> free_pairs_;
  std::vector<PairId> before_;  // of the series last interned; some may be free by now
  std::unordered_map<uint64_t, PairId> pair_ids_;
  std::unordered_map<Symbol, std::unordered_set<Symbol>> values_;  // of a name
};

}  // namespace vagt::tsdb

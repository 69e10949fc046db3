#include "tsdb/head_index.h"

#include <algorithm>

namespace vagt::tsdb {
namespace {

// A matcher against symbols: each distinct value is judged once.
class SymbolMatcher {
 public:
  SymbolMatcher(const Matcher& matcher, const SymbolTable& symbols)
      : matcher_(matcher),
        symbols_(symbols),
        name_(symbols.find(matcher.name())),
        empty_(matcher.matches_empty()),
        equal_(matcher.op() == MatchOp::Equal ? symbols.find(matcher.value())
                                              : SymbolTable::kNone) {}
  bool matches(PairRange pairs, const HeadIndex& index) {
    if (name_ == SymbolTable::kNone) return empty_;
    for (const PairId id : pairs) {
      const SymbolPair pair = index.pair(id);
      if (pair.name != name_) continue;
      if (matcher_.op() == MatchOp::Equal) return pair.value == equal_;
      const auto [it, fresh] = verdicts_.try_emplace(pair.value, false);
      if (fresh) it->second = matcher_.matches(symbols_.text(pair.value));
      return it->second;
    }
    return empty_;
  }

 private:
  const Matcher& matcher_;
  const SymbolTable& symbols_;
  const Symbol name_;
  const bool empty_;
  const Symbol equal_;
  std::unordered_map<Symbol, bool> verdicts_;
};

}  // namespace

bool HeadIndex::equal(Slot slot, const Labels& labels) const {
  const PairRange pairs = pairs_of_(slot);
  const auto items = labels.items();
  if (pairs.size() != items.size()) return false;
  auto id = pairs.begin();
  for (const Label& item : items) {
    const SymbolPair own = pair(*id);
    if (symbols_.text(own.value) != item.value || symbols_.text(own.name) != item.name)
      return false;
    ++id;
  }
  return true;
}

Slot HeadIndex::find(const Labels& labels) const {
  return table_.find(labels.hash(), [&](Slot slot) { return equal(slot, labels); });
}

// `name`: of the label, kNone when that is not known.
PairId HeadIndex::acquire_pair(const Label& label, Symbol name) {
  if (name == SymbolTable::kNone) name = symbols_.find(label.name);
  PairId id = kNoPair;
  if (name != SymbolTable::kNone)
    id = pair_ids_.find(pair_hash(name, label.value), [&](PairId each) {
      const SymbolPair pair = pairs_[each].pair;
      return pair.name == name && symbols_.text(pair.value) == label.value;
    });
  if (id == kNoPair) {
    if (free_pairs_.empty()) {
      id = static_cast<PairId>(pairs_.size());
      pairs_.emplace_back();
    } else {
      id = free_pairs_.back();
      free_pairs_.pop_back();
    }
    pairs_[id].pair = {symbols_.acquire(label.name), symbols_.acquire(label.value)};
    pair_ids_.add(pair_hash(pairs_[id].pair.name, label.value), id);
  }
  ++pairs_[id].references;
  return id;
}

void HeadIndex::release_pair(PairId id) {
  if (--pairs_[id].references > 0) return;
  const SymbolPair pair = pairs_[id].pair;
  pair_ids_.erase(pair_hash(pair.name, text(pair.value)), id);
  symbols_.release(pair.name);
  symbols_.release(pair.value);
  pairs_[id] = Pair();
  free_pairs_.push_back(id);
}

// Series of a page come one after the other and share most labels, and the rest by their names: a
// look at the one before saves most lookups.
std::span<const PairId> HeadIndex::intern(const Labels& labels) {
  const auto items = labels.items();
  const size_t known = before_.size();
  before_.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const PairId guess = i < known ? before_[i] : kNoPair;
    Symbol name = SymbolTable::kNone;
    if (guess != kNoPair && pairs_[guess].references > 0) {
      const SymbolPair pair = pairs_[guess].pair;
      if (symbols_.text(pair.name) == items[i].name) name = pair.name;
      if (name != SymbolTable::kNone && symbols_.text(pair.value) == items[i].value) {
        ++pairs_[guess].references;
        continue;
      }
    }
    before_[i] = acquire_pair(items[i], name);
  }
  return before_;
}

void HeadIndex::add(Slot slot, uint64_t hash, std::span<const PairId> pairs) {
  table_.add(hash, slot);
  for (const PairId id : pairs) {
    Pair& mine = pairs_[id];
    if (mine.postings.empty()) values_[mine.pair.name].insert(mine.pair.value);
    mine.postings.add(slot);
  }
}

void HeadIndex::remove(std::span<const Slot> slots) {
  if (slots.empty()) return;
  const std::unordered_set<Slot> gone(slots.begin(), slots.end());
  std::unordered_set<PairId> touched;
  for (const Slot slot : slots)
    for (const PairId id : pairs_of_(slot)) touched.insert(id);
  for (const PairId id : touched) {
    pairs_[id].postings.remove(gone);
    if (!pairs_[id].postings.empty()) continue;
    const SymbolPair pair = pairs_[id].pair;
    if (auto& values = values_[pair.name]; values.erase(pair.value), values.empty())
      values_.erase(pair.name);
  }
  table_.erase_if([&](Slot slot) { return gone.contains(slot); });
  for (const Slot slot : slots)
    for (const PairId id : pairs_of_(slot)) release_pair(id);
}

void HeadIndex::release(std::span<const PairId> pairs) {
  for (const PairId id : pairs) release_pair(id);
}

size_t HeadIndex::memory_bytes() const {
  constexpr size_t kNode = 48;  // of a hash set, with its allocation
  size_t bytes = table_.memory_bytes() + pair_ids_.memory_bytes() + symbols_.memory_bytes();
  for (const Pair& pair : pairs_) bytes += sizeof pair + kNode + pair.postings.memory_bytes();
  return bytes;
}

void HeadIndex::tidy() {
  for (Pair& pair : pairs_) pair.postings.tidy();
}

// The union of the postings of the values a matcher accepts: literals looked up, else the values
// walked, a common prefix tried before the expression. False: the matcher accepts absence too.
bool HeadIndex::collect_values(const Matcher& matcher, Symbol name, std::vector<Slot>& out) const {
  if (matcher.matches_empty()) return false;
  const auto take = [&](Symbol value) {
    if (const PairId id = find_pair({name, value}); id != kNoPair)
      pairs_[id].postings.append_to(out);
  };
  if (matcher.op() == MatchOp::Equal) {
    if (const Symbol value = symbols_.find(matcher.value()); value != SymbolTable::kNone)
      take(value);
    return true;
  }
  if (matcher.op() == MatchOp::Regex && !matcher.regex()->literals().empty()) {
    for (const std::string& literal : matcher.regex()->literals())
      if (const Symbol value = symbols_.find(literal); value != SymbolTable::kNone) take(value);
  } else if (const auto values = values_.find(name); values != values_.end()) {
    for (const Symbol value : values->second)
      if (matcher.matches(symbols_.text(value))) take(value);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return true;
}

// The narrowest set that every result is in. False: every series may match.
bool HeadIndex::choose_base(std::span<const Matcher> matchers, std::vector<Slot>& base) const {
  const Matcher* best = nullptr;
  size_t best_size = SIZE_MAX;
  for (const Matcher& matcher : matchers) {
    if (matcher.matches_empty()) continue;
    const Symbol name = symbols_.find(matcher.name());
    if (name == SymbolTable::kNone) return true;  // nothing has that label
    size_t size = SIZE_MAX - 1;
    if (matcher.op() == MatchOp::Equal) {
      const Symbol value = symbols_.find(matcher.value());
      const PairId id = value == SymbolTable::kNone ? kNoPair : find_pair({name, value});
      if (id == kNoPair) return true;
      size = pairs_[id].postings.size();
    } else if (matcher.op() == MatchOp::Regex && !matcher.regex()->literals().empty()) {
      size = 0;
      for (const std::string& literal : matcher.regex()->literals())
        if (const Symbol value = symbols_.find(literal); value != SymbolTable::kNone)
          if (const PairId id = find_pair({name, value}); id != kNoPair)
            size += pairs_[id].postings.size();
    }
    if (best == nullptr || size < best_size) {
      best = &matcher;
      best_size = size;
    }
  }
  if (best == nullptr) return false;
  collect_values(*best, symbols_.find(best->name()), base);
  return true;
}

std::vector<Slot> HeadIndex::select(std::span<const Matcher> matchers) const {
  std::vector<Slot> slots;
  if (!choose_base(matchers, slots)) {
    for_each([&](Slot slot) { slots.push_back(slot); });
    std::sort(slots.begin(), slots.end());
  }
  for (const Matcher& matcher : matchers) {
    SymbolMatcher symbolic(matcher, symbols_);
    std::erase_if(slots, [&](Slot slot) { return !symbolic.matches(pairs_of_(slot), *this); });
  }
  return slots;
}

Labels HeadIndex::labels(Slot slot) const {
  std::vector<Label> items;
  for (const PairId id : pairs_of_(slot)) {
    const SymbolPair own = pair(id);
    items.push_back({symbols_.text(own.name), symbols_.text(own.value)});
  }
  return Labels::from_sorted(items);
}

}  // namespace vagt::tsdb

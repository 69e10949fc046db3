#include "tsdb/head_index.h"

#include <algorithm>

namespace vagt::tsdb {
namespace {

uint32_t short_hash(uint64_t hash) { return static_cast<uint32_t>(hash ^ hash >> 32); }

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
  bool matches(std::span<const SymbolPair> pairs) {
    if (name_ == SymbolTable::kNone) return empty_;
    for (const SymbolPair pair : pairs) {
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
  const auto pairs = pairs_of_(slot);
  const auto items = labels.items();
  if (pairs.size() != items.size()) return false;
  for (size_t i = 0; i < items.size(); ++i)
    if (symbols_.text(pairs[i].value) != items[i].value ||
        symbols_.text(pairs[i].name) != items[i].name)
      return false;
  return true;
}

Slot HeadIndex::find(const Labels& labels) const {
  if (table_.empty()) return kNone;
  const uint32_t hash = short_hash(labels.hash());
  const size_t mask = table_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    if (table_[i] == kNone) return kNone;
    if (table_[i] != kDeleted && hashes_[i] == hash && equal(table_[i], labels)) return table_[i];
  }
}

void HeadIndex::grow() {
  const size_t wanted = std::max<size_t>(64, size_ * 2);
  size_t capacity = 64;
  while (capacity < wanted) capacity *= 2;
  std::vector<Slot> table(capacity, kNone);
  std::vector<uint32_t> hashes(capacity, 0);
  for (size_t i = 0; i < table_.size(); ++i) {
    if (table_[i] >= kDeleted) continue;
    size_t at = hashes_[i] & (capacity - 1);
    while (table[at] != kNone) at = (at + 1) & (capacity - 1);
    table[at] = table_[i];
    hashes[at] = hashes_[i];
  }
  table_ = std::move(table);
  hashes_ = std::move(hashes);
  used_ = size_;
}

std::vector<SymbolPair> HeadIndex::intern(const Labels& labels) {
  std::vector<SymbolPair> pairs;
  pairs.reserve(labels.size());
  for (const Label& label : labels.items())
    pairs.push_back({symbols_.acquire(label.name), symbols_.acquire(label.value)});
  return pairs;
}

void HeadIndex::add(Slot slot, uint64_t full_hash) {
  if ((used_ + 1) * 4 > table_.size() * 3) grow();
  const uint32_t hash = short_hash(full_hash);
  const size_t mask = table_.size() - 1;
  size_t at = hash & mask;
  while (table_[at] != kNone) at = (at + 1) & mask;
  table_[at] = slot;
  hashes_[at] = hash;
  ++size_;
  ++used_;
  for (const SymbolPair pair : pairs_of_(slot)) {
    std::vector<Slot>& slots = postings_[key(pair)].slots;
    if (slots.empty()) values_[pair.name].insert(pair.value);
    slots.push_back(slot);
  }
}

void HeadIndex::remove(std::span<const Slot> slots) {
  if (slots.empty()) return;
  const std::unordered_set<Slot> gone(slots.begin(), slots.end());
  std::unordered_set<uint64_t> touched;
  for (const Slot slot : slots)
    for (const SymbolPair pair : pairs_of_(slot)) touched.insert(key(pair));
  for (const uint64_t each : touched) {
    const auto it = postings_.find(each);
    if (it == postings_.end()) continue;
    std::erase_if(it->second.slots, [&](Slot slot) { return gone.contains(slot); });
    it->second.sorted = 0;
    if (!it->second.slots.empty()) continue;
    const auto name = static_cast<Symbol>(each >> 32);
    if (auto& values = values_[name]; values.erase(static_cast<Symbol>(each)), values.empty())
      values_.erase(name);
    postings_.erase(it);
  }
  for (Slot& entry : table_) {
    if (entry >= kDeleted || !gone.contains(entry)) continue;
    entry = kDeleted;
    --size_;
  }
  for (const Slot slot : slots)
    for (const SymbolPair pair : pairs_of_(slot)) {
      symbols_.release(pair.name);
      symbols_.release(pair.value);
    }
}

const std::vector<Slot>& HeadIndex::postings(SymbolPair pair) {
  static const std::vector<Slot> kEmpty;
  const auto it = postings_.find(key(pair));
  if (it == postings_.end()) return kEmpty;
  Postings& p = it->second;
  if (p.sorted < p.slots.size()) {
    const auto middle = p.slots.begin() + static_cast<std::ptrdiff_t>(p.sorted);
    std::sort(middle, p.slots.end());
    std::inplace_merge(p.slots.begin(), middle, p.slots.end());
    // Growing doubles; what is read is mostly done growing.
    if (p.slots.capacity() > p.slots.size() + p.slots.size() / 8) p.slots.shrink_to_fit();
    p.sorted = p.slots.size();
  }
  return p.slots;
}

// The union of the postings of the values a matcher accepts: literals looked up, else the values
// walked, a common prefix tried before the expression. False: the matcher accepts absence too.
bool HeadIndex::collect_values(const Matcher& matcher, Symbol name, std::vector<Slot>& out) {
  if (matcher.matches_empty()) return false;
  const auto take = [&](Symbol value) {
    const std::vector<Slot>& slots = postings({name, value});
    out.insert(out.end(), slots.begin(), slots.end());
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
bool HeadIndex::choose_base(std::span<const Matcher> matchers, std::vector<Slot>& base) {
  const Matcher* best = nullptr;
  size_t best_size = SIZE_MAX;
  for (const Matcher& matcher : matchers) {
    if (matcher.matches_empty()) continue;
    const Symbol name = symbols_.find(matcher.name());
    if (name == SymbolTable::kNone) return true;  // nothing has that label
    size_t size = SIZE_MAX - 1;
    if (matcher.op() == MatchOp::Equal) {
      const Symbol value = symbols_.find(matcher.value());
      const auto it = postings_.find(key({name, value}));
      if (value == SymbolTable::kNone || it == postings_.end()) return true;
      size = it->second.slots.size();
    } else if (matcher.op() == MatchOp::Regex && !matcher.regex()->literals().empty()) {
      size = 0;
      for (const std::string& literal : matcher.regex()->literals())
        if (const Symbol value = symbols_.find(literal); value != SymbolTable::kNone)
          if (const auto it = postings_.find(key({name, value})); it != postings_.end())
            size += it->second.slots.size();
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

std::vector<Slot> HeadIndex::select(std::span<const Matcher> matchers) {
  std::vector<Slot> slots;
  if (!choose_base(matchers, slots)) {
    for_each([&](Slot slot) { slots.push_back(slot); });
    std::sort(slots.begin(), slots.end());
  }
  for (const Matcher& matcher : matchers) {
    SymbolMatcher symbolic(matcher, symbols_);
    std::erase_if(slots, [&](Slot slot) { return !symbolic.matches(pairs_of_(slot)); });
  }
  return slots;
}

Labels HeadIndex::labels(Slot slot) const {
  std::vector<Label> items;
  for (const SymbolPair pair : pairs_of_(slot))
    items.push_back({symbols_.text(pair.name), symbols_.text(pair.value)});
  return Labels::from_sorted(items);
}

}  // namespace vagt::tsdb

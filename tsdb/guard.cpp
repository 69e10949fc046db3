#include "tsdb/guard.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace vagt::tsdb {
namespace {

constexpr Duration kAgain = std::chrono::minutes(1);
constexpr size_t kFewest = 1000;  // newest series looked at, when there are so many

struct Newest {
  SeriesId id;
  Slot slot;
};

std::vector<Newest> newest_series(const Head& head, const HeadIndex& index) {
  std::vector<Newest> all;
  all.reserve(index.size());
  index.for_each([&](Slot slot) { all.push_back({head.at(slot).id, slot}); });
  const size_t kept = std::min(all.size(), std::max(kFewest, all.size() / 8));
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                   [](const Newest& a, const Newest& b) { return a.id > b.id; });
  all.resize(kept);
  return all;
}

// The symbol of the metric name that most of them have; kNone: none has a name.
Symbol commonest_metric(const HeadIndex& index, std::span<const Newest> series) {
  std::unordered_map<Symbol, size_t> counts;
  for (const Newest& each : series)
    for (const PairId id : index.pairs_of(each.slot))
      if (const SymbolPair pair = index.pair(id); index.text(pair.name) == kMetricName)
        ++counts[pair.value];
  Symbol best = SymbolTable::kNone;
  size_t most = 0;
  for (const auto& [metric, count] : counts) {
    if (count < most || (count == most && index.text(metric) > index.text(best))) continue;
    best = metric;
    most = count;
  }
  return best;
}

}  // namespace

std::optional<Explosion> find_explosion(const Head& head) {
  std::optional<Explosion> found;
  head.with_index([&](const HeadIndex& index) {
    const std::vector<Newest> newest = newest_series(head, index);
    const Symbol metric = commonest_metric(index, newest);
    if (metric == SymbolTable::kNone) return;
    Explosion explosion;
    explosion.metric = index.text(metric);
    std::unordered_map<Symbol, std::unordered_set<Symbol>> values;
    index.for_each([&](Slot slot) {
      const PairRange pairs = index.pairs_of(slot);
      const bool mine = std::any_of(pairs.begin(), pairs.end(), [&](PairId id) {
        const SymbolPair pair = index.pair(id);
        return pair.value == metric && index.text(pair.name) == kMetricName;
      });
      if (!mine) return;
      ++explosion.series;
      for (const PairId id : pairs) {
        const SymbolPair pair = index.pair(id);
        values[pair.name].insert(pair.value);
      }
    });
    for (const auto& [name, distinct] : values) {
      const std::string_view text = index.text(name);
      if (text == kMetricName || distinct.size() < explosion.values ||
          (distinct.size() == explosion.values && text > explosion.label))
        continue;
      explosion.label = text;
      explosion.values = distinct.size();
    }
    found = std::move(explosion);
  });
  return found;
}

std::string CardinalityGuard::over(size_t series) const {
  if (series >= budget_.series)
    return "the budget of " + std::to_string(budget_.series) + " series in memory is spent";
  if (budget_.bytes == 0) return {};
  // Between two weighings every new series is taken for an average one.
  const uint64_t weighed = weighed_series_.load(std::memory_order_relaxed);
  const uint64_t bytes = bytes_.load(std::memory_order_relaxed);
  const uint64_t now = weighed == 0 ? series * 512 : bytes / weighed * series;
  if (now < budget_.bytes) return {};
  return "the budget of " + std::to_string(budget_.bytes) + " bytes for series in memory is spent";
}

Status CardinalityGuard::admit(size_t series) {
  std::string why = over(series);
  if (why.empty()) return {};
  refused_.fetch_add(1, std::memory_order_relaxed);
  base::MutexLock lock(mutex_);
  why_ = why;
  if (explosion_) why += "; " + explosion_->to_string();
  return {Code::LimitExceeded, "new series are refused: " + why};
}

void CardinalityGuard::measure(const Head& head, Timestamp now) {
  const size_t series = head.size();
  base::MutexLock lock(mutex_);
  const uint64_t weighed = weighed_series_.load(std::memory_order_relaxed);
  if (budget_.bytes > 0 && series > 0 &&
      (now - weighed_at_ >= kAgain || now < weighed_at_ || series > weighed + weighed / 16)) {
    bytes_.store(head.memory_bytes(), std::memory_order_relaxed);
    weighed_series_.store(series, std::memory_order_relaxed);
    weighed_at_ = now;
  }
  const uint64_t refused = refused_.load(std::memory_order_relaxed);
  if (explosion_ && now - named_at_ < kAgain && now >= named_at_) return;
  if (refused == refused_before_) {
    if (explosion_) log_.info("new series are taken again", {{"refused", refused}});
    explosion_.reset();
    why_.clear();
    return;
  }
  const bool known = explosion_.has_value();
  const uint64_t since = refused - refused_before_;
  refused_before_ = refused;
  named_at_ = now;
  auto found = find_explosion(head);
  if (!found) return;
  if (!known || found->metric != explosion_->metric || found->label != explosion_->label)
    log_.error("new series are refused: the cardinality budget is spent",
               {{"reason", why_},
                {"metric", found->metric},
                {"label", found->label},
                {"series", found->series},
                {"values", found->values},
                {"refused", since}});
  explosion_ = std::move(found);
}

std::optional<Explosion> CardinalityGuard::explosion() const {
  base::MutexLock lock(mutex_);
  return explosion_;
}

std::string CardinalityGuard::state() const {
  base::MutexLock lock(mutex_);
  if (why_.empty() || !explosion_) return why_;
  return why_ + "; " + explosion_->to_string();
}

}  // namespace vagt::tsdb

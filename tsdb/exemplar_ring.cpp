#include "tsdb/exemplar_ring.h"

#include <algorithm>
#include <bit>

namespace vagt::tsdb {
namespace {

constexpr size_t kMaxLabelRunes = 128;  // OpenMetrics: of names and values together

size_t runes(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool is_too_long(const Labels& labels) {
  size_t length = 0;
  for (const Label& label : labels.items()) length += runes(label.name) + runes(label.value);
  return length > kMaxLabelRunes;
}

// Without a time of its own an exemplar is new when it says something new.
bool is_same(const Exemplar& a, const Exemplar& b) {
  if ((a.has_own_time || b.has_own_time) && a.t != b.t) return false;
  return std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value) &&
         a.labels == b.labels;
}

}  // namespace

void ExemplarRing::count_in(base::Registry& registry) {
  appended_ =
      &registry.counter("prometheus_tsdb_exemplar_exemplars_appended_total", "Exemplars taken.");
  out_of_order_ = &registry.counter("prometheus_tsdb_exemplar_out_of_order_exemplars_total",
                                    "Exemplars refused: older than the series' newest.");
  const auto gauge = [&](std::string_view name, std::string_view help, auto read) {
    gauges_.push_back(
        registry.callback(base::Registry::Kind::Gauge, name, help,
                          [this, read](const std::function<void(const Labels&, double)>& emit) {
                            base::MutexLock lock(mutex_);
                            emit({}, static_cast<double>(read(*this)));
                          }));
  };
  gauge("prometheus_tsdb_exemplar_exemplars_in_storage", "Exemplars kept.",
        [](const ExemplarRing& ring) VAGT_NO_THREAD_ANALYSIS { return ring.order_.size(); });
  gauge("prometheus_tsdb_exemplar_series_with_exemplars_in_storage", "Series that have some.",
        [](const ExemplarRing& ring) VAGT_NO_THREAD_ANALYSIS { return ring.by_series_.size(); });
  gauge("prometheus_tsdb_exemplar_max_exemplars", "Exemplars that are kept at most.",
        [](const ExemplarRing& ring) VAGT_NO_THREAD_ANALYSIS { return ring.capacity_; });
}

void ExemplarRing::drop_oldest() {
  const BySeries::iterator series = order_.front();
  order_.pop_front();
  series->second.pop_front();
  if (series->second.empty()) by_series_.erase(series);
}

Code ExemplarRing::add(const Labels& series, const Exemplar& exemplar) {
  if (is_too_long(exemplar.labels)) return Code::LimitExceeded;
  base::MutexLock lock(mutex_);
  if (capacity_ == 0) return Code::OutOfBounds;
  if (const auto known = by_series_.find(series); known != by_series_.end()) {
    const Exemplar& newest = known->second.back();
    if (is_same(newest, exemplar)) return Code::Duplicate;
    if (exemplar.t < newest.t) {
      if (out_of_order_ != nullptr) out_of_order_->add();
      return Code::OutOfOrder;
    }
  }
  // First room, then the new one: its series may be the one that loses its last.
  while (order_.size() >= capacity_) drop_oldest();
  const auto at = by_series_.try_emplace(series).first;
  at->second.push_back(exemplar);
  order_.push_back(at);
  if (appended_ != nullptr) appended_->add();
  return Code::Ok;
}

std::vector<SeriesExemplars> ExemplarRing::select(std::span<const std::vector<Matcher>> selectors,
                                                  Timestamp start, Timestamp end) const {
  std::vector<SeriesExemplars> found;
  base::MutexLock lock(mutex_);
  for (const auto& [series, exemplars] : by_series_) {
    const Labels& labels = series;
    const bool is_wanted =
        std::any_of(selectors.begin(), selectors.end(),
                    [&labels](const auto& matchers) { return matches_all(matchers, labels); });
    if (!is_wanted) continue;
    SeriesExemplars row{series, {}};
    for (const Exemplar& exemplar : exemplars) {
      if (start <= exemplar.t && exemplar.t <= end) row.exemplars.push_back(exemplar);
    }
    if (!row.exemplars.empty()) found.push_back(std::move(row));
  }
  return found;
}

void ExemplarRing::set_capacity(size_t exemplars) {
  base::MutexLock lock(mutex_);
  capacity_ = exemplars;
  while (order_.size() > capacity_) drop_oldest();
}

size_t ExemplarRing::size() const {
  base::MutexLock lock(mutex_);
  return order_.size();
}

}  // namespace vagt::tsdb

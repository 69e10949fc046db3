// The newest exemplars of all series, in a ring of fixed size.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "base/metrics.h"
#include "base/mutex.h"
#include "tsdb/exemplar.h"

namespace vagt::tsdb {

class ExemplarRing final : public Exemplars {
 public:
  explicit ExemplarRing(size_t capacity) : capacity_(capacity) {}
  // Under Prometheus's names. `registry` outlives it.
  void count_in(base::Registry& registry);

  Code add(const Labels& series, const Exemplar& exemplar) override VAGT_EXCLUDES(mutex_);
  std::vector<SeriesExemplars> select(std::span<const std::vector<Matcher>> selectors,
                                      Timestamp start, Timestamp end) const override
      VAGT_EXCLUDES(mutex_);
  void set_capacity(size_t exemplars) override VAGT_EXCLUDES(mutex_);
  size_t size() const VAGT_EXCLUDES(mutex_);

 private:
  using BySeries = std::map<Labels, std::deque<Exemplar>>;
  void drop_oldest() VAGT_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  size_t capacity_ VAGT_GUARDED_BY(mutex_);
  BySeries by_series_ VAGT_GUARDED_BY(mutex_);
  // Whose exemplar came when, oldest first: the front of that series' queue is the next to go.
  std::deque<BySeries::iterator> order_ VAGT_GUARDED_BY(mutex_);
  base::Counter* appended_ = nullptr;
  base::Counter* out_of_order_ = nullptr;
  std::vector<std::shared_ptr<void>> gauges_;
};

}  // namespace vagt::tsdb

#include "tsdb/memory_store.h"

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>

#include "tsdb/admission.h"
#include "tsdb/cardinality.h"

namespace vagt::tsdb {
namespace {

struct Point {
  Timestamp t;
  double v;
  uint64_t sequence;  // of the commit that brought it
};

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

struct MemorySeries {
  Labels labels;
  std::vector<Point> points;  // by time, unique
  size_t pending = 0;         // open appenders that asked for the series before its first sample

  std::vector<Point>::iterator at_or_after(Timestamp t) {
    if (points.empty() || points.back().t < t) return points.end();
    return std::lower_bound(points.begin(), points.end(), t,
                            [](const Point& p, Timestamp at) { return p.t < at; });
  }
  const Point* find(Timestamp t) {
    const auto it = at_or_after(t);
    return it != points.end() && it->t == t ? &*it : nullptr;
  }
};

}  // namespace

struct MemoryStore::State {
  MemoryStoreOptions options;
  mutable base::Mutex mutex;
  uint64_t next_ref VAGT_GUARDED_BY(mutex) = 1;
  uint64_t sequence VAGT_GUARDED_BY(mutex) = 0;
  std::unordered_map<uint64_t, MemorySeries> series VAGT_GUARDED_BY(mutex);
  std::map<Labels, uint64_t> refs VAGT_GUARDED_BY(mutex);
  std::map<std::string, Metadata, std::less<>> metadata VAGT_GUARDED_BY(mutex);
  std::optional<Timestamp> oldest VAGT_GUARDED_BY(mutex), newest VAGT_GUARDED_BY(mutex);

  TimeBounds bounds(bool any_age) const VAGT_REQUIRES(mutex) {
    const Timestamp now = options.clock != nullptr ? options.clock->now() : Timestamp::max();
    return {newest, now, options.retention, options.out_of_order_window, any_age};
  }
  void drop_if_unused(uint64_t ref) VAGT_REQUIRES(mutex) {
    const auto it = series.find(ref);
    if (it == series.end() || it->second.pending > 0 || !it->second.points.empty()) return;
    refs.erase(it->second.labels);
    series.erase(it);
  }
};

class MemoryStore::MemoryAppender final : public Appender {
 public:
  MemoryAppender(std::shared_ptr<State> state, bool any_age)
      : state_(std::move(state)), any_age_(any_age) {}
  ~MemoryAppender() override {
    State& s = *state_;
    base::MutexLock lock(s.mutex);
    forget(s);
  }

  Result<SeriesRef> series(const Labels& labels) override {
    if (labels.empty()) return Status::invalid("a series needs at least one label");
    State& s = *state_;
    base::MutexLock lock(s.mutex);
    auto found = s.refs.find(labels);
    if (found == s.refs.end()) {
      if (s.series.size() >= s.options.max_series)
        return Status(Code::LimitExceeded,
                      "series limit of " + std::to_string(s.options.max_series) + " reached");
      found = s.refs.emplace(labels, s.next_ref++).first;
      s.series[found->second].labels = labels;
    }
    MemorySeries& entry = s.series[found->second];
    if (entry.points.empty() && fresh_.insert(found->second).second) ++entry.pending;
    return SeriesRef{found->second};
  }

  Code append(SeriesRef ref, Sample sample) override {
    base::MutexLock lock(state_->mutex);
    const auto it = state_->series.find(static_cast<uint64_t>(ref));
    if (it == state_->series.end()) return Code::NotFound;
    auto& mine = staged_[it->first];
    std::optional<Timestamp> newest;
    if (!it->second.points.empty()) newest = it->second.points.back().t;
    if (!mine.empty() && (!newest || mine.rbegin()->first > *newest)) newest = mine.rbegin()->first;
    const Admission admission = admit(state_->bounds(any_age_), newest, sample.t);
    if (admission.code != Code::Ok) return admission.code;
    if (const auto staged = mine.find(sample.t); staged != mine.end())
      return same_bits(staged->second, sample.v) ? Code::Ok : Code::Duplicate;
    if (const Point* stored = it->second.find(sample.t))
      return same_bits(stored->v, sample.v) ? Code::Ok : Code::Duplicate;
    mine.emplace(sample.t, sample.v);
    return Code::Ok;
  }

  void metadata(std::string_view metric, const Metadata& metadata) override {
    metadata_.insert_or_assign(std::string(metric), metadata);
  }

  Status commit() override {
    State& s = *state_;
    base::MutexLock lock(s.mutex);
    ++s.sequence;
    for (const auto& [ref, samples] : staged_) {
      const auto it = s.series.find(ref);
      if (it == s.series.end()) continue;
      for (const auto& [t, v] : samples) {
        const auto at = it->second.at_or_after(t);
        if (at != it->second.points.end() && at->t == t) continue;  // another appender was first
        it->second.points.insert(at, Point{t, v, s.sequence});
        s.oldest = s.oldest ? std::min(*s.oldest, t) : t;
        s.newest = s.newest ? std::max(*s.newest, t) : t;
      }
    }
    for (auto& [metric, metadata] : metadata_) s.metadata[metric] = std::move(metadata);
    metadata_.clear();
    forget(s);
    return {};
  }

 private:
  void forget(State& s) VAGT_REQUIRES(s.mutex) {
    staged_.clear();
    for (const uint64_t ref : fresh_) {
      if (const auto it = s.series.find(ref); it != s.series.end()) --it->second.pending;
      s.drop_if_unused(ref);
    }
    fresh_.clear();
  }

  const std::shared_ptr<State> state_;
  const bool any_age_;
  std::unordered_map<uint64_t, std::map<Timestamp, double>> staged_;
  std::set<uint64_t> fresh_;  // series without a sample when asked for
  std::map<std::string, Metadata> metadata_;
};

class MemoryStore::MemoryCursor final : public SeriesCursor {
 public:
  MemoryCursor(std::vector<std::pair<Labels, SampleColumns>> series) : series_(std::move(series)) {}
  bool next() override {
    offset_ = 0;
    return ++at_ <= series_.size();
  }
  const Labels& labels() const override { return series_[at_ - 1].first; }
  bool read(SampleColumns& out, size_t max) override {
    const SampleColumns& all = series_[at_ - 1].second;
    const size_t n = std::min(max, all.size() - offset_);
    const auto begin = static_cast<std::ptrdiff_t>(offset_);
    const auto end = static_cast<std::ptrdiff_t>(offset_ + n);
    out.t.insert(out.t.end(), all.t.begin() + begin, all.t.begin() + end);
    out.v.insert(out.v.end(), all.v.begin() + begin, all.v.begin() + end);
    offset_ += n;
    return n > 0;
  }
  Status status() const override { return {}; }

 private:
  const std::vector<std::pair<Labels, SampleColumns>> series_;  // in Labels order
  size_t at_ = 0;                                               // one beyond the current series
  size_t offset_ = 0;
};

class MemoryStore::MemoryQuerier final : public Querier {
 public:
  MemoryQuerier(std::shared_ptr<State> state, Timestamp mint, Timestamp maxt)
      : state_(std::move(state)), mint_(mint), maxt_(maxt) {
    base::MutexLock lock(state_->mutex);
    sequence_ = state_->sequence;
  }

  std::unique_ptr<SeriesCursor> select(std::span<const Matcher> matchers,
                                       const SelectHints& hints) override {
    std::vector<std::pair<Labels, SampleColumns>> found;
    visit(matchers, std::max(mint_, hints.start), std::min(maxt_, hints.end),
          [&](const Labels& labels, SampleColumns columns) {
            found.emplace_back(labels, std::move(columns));
          });
    return std::make_unique<MemoryCursor>(std::move(found));
  }

  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const Matcher> matchers) override {
    std::set<std::string> values;
    visit(matchers, mint_, maxt_, [&](const Labels& labels, const SampleColumns&) {
      if (const auto value = labels.get(name); !value.empty()) values.emplace(value);
    });
    return std::vector<std::string>(values.begin(), values.end());
  }

  Result<std::vector<std::string>> label_names(std::span<const Matcher> matchers) override {
    std::set<std::string> names;
    visit(matchers, mint_, maxt_, [&](const Labels& labels, const SampleColumns&) {
      for (const Label& label : labels.items()) names.emplace(label.name);
    });
    return std::vector<std::string>(names.begin(), names.end());
  }

 private:
  // Series with a visible sample in [start, end], in Labels order.
  template <class F>
  void visit(std::span<const Matcher> matchers, Timestamp start, Timestamp end, F&& f) {
    base::MutexLock lock(state_->mutex);
    for (const auto& [labels, ref] : state_->refs) {
      if (!matches_all(matchers, labels)) continue;
      MemorySeries& series = state_->series[ref];
      SampleColumns columns;
      for (auto it = series.at_or_after(start); it != series.points.end() && it->t <= end; ++it)
        if (it->sequence <= sequence_) columns.push(it->t, it->v);
      if (columns.size() > 0) f(labels, std::move(columns));
    }
  }

  const std::shared_ptr<State> state_;
  const Timestamp mint_, maxt_;
  uint64_t sequence_ = 0;
};

MemoryStore::MemoryStore(MemoryStoreOptions options) : state_(std::make_shared<State>()) {
  state_->options = options;
}
MemoryStore::~MemoryStore() = default;

std::unique_ptr<Appender> MemoryStore::appender() {
  return std::make_unique<MemoryAppender>(state_, false);
}
std::unique_ptr<Appender> MemoryStore::import_appender() {
  return std::make_unique<MemoryAppender>(state_, true);
}
std::unique_ptr<Querier> MemoryStore::querier(Timestamp mint, Timestamp maxt) {
  return std::make_unique<MemoryQuerier>(state_, mint, maxt);
}

std::vector<std::pair<std::string, Metadata>> MemoryStore::metadata(std::string_view metric) const {
  base::MutexLock lock(state_->mutex);
  std::vector<std::pair<std::string, Metadata>> all;
  for (const auto& [name, metadata] : state_->metadata)
    if (metric.empty() || metric == name) all.emplace_back(name, metadata);
  return all;
}

StoreStats MemoryStore::stats() const {
  base::MutexLock lock(state_->mutex);
  StoreStats stats;
  for (const auto& [ref, series] : state_->series) {
    if (series.points.empty()) continue;
    ++stats.head_series;
    ++stats.head_chunks;
  }
  stats.min_time = state_->oldest;
  stats.max_time = state_->newest;
  return stats;
}

CardinalityStats MemoryStore::cardinality(size_t top) const {
  base::MutexLock lock(state_->mutex);
  CardinalityCounter counter;
  for (const auto& [labels, ref] : state_->refs)
    if (!state_->series.at(ref).points.empty()) counter.add(labels.items());
  return counter.finish(top);
}

size_t MemoryStore::delete_series(std::span<const Matcher> matchers, Timestamp mint,
                                  Timestamp maxt) {
  base::MutexLock lock(state_->mutex);
  size_t removed = 0;
  std::vector<uint64_t> emptied;
  for (const auto& [labels, ref] : state_->refs) {
    if (!matches_all(matchers, labels)) continue;
    MemorySeries& series = state_->series[ref];
    removed +=
        std::erase_if(series.points, [&](const Point& p) { return p.t >= mint && p.t <= maxt; });
    if (series.points.empty()) emptied.push_back(ref);
  }
  for (const uint64_t ref : emptied) state_->drop_if_unused(ref);
  return removed;
}

}  // namespace vagt::tsdb

// The time-series store as everyone else sees it. rocks_store.h and memory_store.h implement it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "base/sample.h"
#include "base/status.h"
#include "base/time.h"
#include "tsdb/exemplar.h"

namespace vagt::tsdb {

// Names a series inside one Store instance. It may be retired when its series leaves memory:
// append() then says NotFound.
enum class SeriesRef : uint64_t { None = 0 };  // None must not be cached

// What a target's page says of a metric family.
struct Metadata {
  std::string type;  // "counter", "gauge", "histogram", "summary", "unknown", …
  std::string help;
  std::string unit;
  friend bool operator==(const Metadata&, const Metadata&) = default;
};

// One thread, one batch. Dropped without commit() it is rolled back, series it would have created
// included.
class Appender {
 public:
  virtual ~Appender() = default;
  // Find or create. LimitExceeded: the cardinality budget is spent and the series is new.
  virtual Result<SeriesRef> series(const Labels& labels) = 0;
  // A bad sample fails alone. NotFound: the ref is retired, ask series() again. OutOfOrder: older
  // than the newest sample and the out-of-order window; OutOfBounds: beyond retention; Duplicate:
  // same time, another value. The same value at the same time is Ok and stored once.
  virtual Code append(SeriesRef ref, Sample sample) = 0;
  // Any NaN but the stale marker should have been normalised by the caller. Metadata is
  // last-write-wins per metric name.
  virtual void metadata(std::string_view metric, const Metadata& metadata) = 0;
  // All or nothing: in the journal, then visible to queriers opened afterwards. Unavailable: the
  // store refuses writes (disk full, corruption) and says why.
  virtual Status commit() = 0;
};

// Lets a store skip work the query does not need.
struct SelectHints {
  Timestamp start{}, end{};  // the part of [mint, maxt] this selector reads; both inclusive
  std::string function;      // the function around the selector, "" when none; "series" when only
                             // labels are read
};

class SeriesCursor {  // series in Labels order; must not outlive its Querier
 public:
  virtual ~SeriesCursor() = default;
  virtual bool next() = 0;
  virtual const Labels& labels() const = 0;
  // Appends at most `max` more samples of the current series inside the hints' range,
  // time-ascending, stale markers included. False: the series is exhausted and nothing was
  // appended. `out` is not cleared.
  virtual bool read(SampleColumns& out, size_t max) = 0;
  virtual Status status() const = 0;  // read it once next() says false
};

// A snapshot of [mint, maxt], both inclusive. One thread at a time.
class Querier {
 public:
  virtual ~Querier() = default;
  virtual std::unique_ptr<SeriesCursor> select(std::span<const Matcher> matchers,
                                               const SelectHints& hints) = 0;
  // Sorted, unique; of series that have a sample in the range (whole partitions may be taken for
  // it).
  virtual Result<std::vector<std::string>> label_values(std::string_view name,
                                                        std::span<const Matcher> matchers) = 0;
  virtual Result<std::vector<std::string>> label_names(std::span<const Matcher> matchers) = 0;
};

// Head cardinality by one key, as /api/v1/status/tsdb lists it.
struct NamedCount {
  std::string name;
  uint64_t value = 0;
};
struct StoreStats {
  uint64_t head_series = 0;  // series in memory
  uint64_t head_chunks = 0;
  std::optional<Timestamp> min_time, max_time;
  uint64_t disk_bytes = 0;
  std::string degraded;     // why writes are refused; "" when they are not
  std::string over_budget;  // why new series are refused, and what explodes; "" when they are not
  uint64_t series_refused = 0;
};
// What ate the cardinality budget: a metric, and the label that has most values on it.
struct Explosion {
  std::string metric, label;
  uint64_t series = 0;  // of the metric, in memory
  uint64_t values = 0;  // of the label on that metric
  std::string to_string() const {
    return "metric " + metric + " has " + std::to_string(series) + " series, its label " + label +
           " " + std::to_string(values) + " values";
  }
};
struct CardinalityStats {
  uint64_t label_pairs = 0;
  std::vector<NamedCount> series_by_metric, values_by_label, bytes_by_label,
      series_by_pair;                  // largest first
  std::optional<Explosion> exploding;  // while new series are refused
};

class Store {
 public:
  virtual ~Store() = default;
  virtual std::unique_ptr<Appender> appender() = 0;
  // For back-fill: takes samples of any age within retention, whatever the out-of-order window.
  virtual std::unique_ptr<Appender> import_appender() { return appender(); }
  virtual std::unique_ptr<Querier> querier(Timestamp mint, Timestamp maxt) = 0;
  // Latest metadata per metric name; all of them when `metric` is empty.
  virtual std::vector<std::pair<std::string, Metadata>> metadata(std::string_view metric) const = 0;
  virtual StoreStats stats() const = 0;
  virtual CardinalityStats cardinality(size_t top) const = 0;
  // Null: this store keeps none. It lives as long as the store.
  virtual Exemplars* exemplars() { return nullptr; }
};

}  // namespace vagt::tsdb

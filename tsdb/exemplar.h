// Exemplars: single events, named by a trace, behind a series' samples. Kept in memory only.
#pragma once

#include <span>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::tsdb {

struct Exemplar {
  Labels labels;  // its own: {trace_id="…"}
  double value = 0;
  Timestamp t{};
  bool has_own_time = false;  // false: the scrape's, which says nothing of whether it is new
};

struct SeriesExemplars {
  Labels series;
  std::vector<Exemplar> exemplars;  // as they came
};

// Any thread.
class Exemplars {
 public:
  virtual ~Exemplars() = default;
  // Duplicate: the newest one of the series again. OutOfOrder: older than that. LimitExceeded: more
  // than 128 characters of labels. OutOfBounds: none are kept.
  virtual Code add(const Labels& series, const Exemplar& exemplar) = 0;
  // Of series that match all matchers of one of `selectors`, those in [start, end]; in Labels
  // order.
  virtual std::vector<SeriesExemplars> select(std::span<const std::vector<Matcher>> selectors,
                                              Timestamp start, Timestamp end) const = 0;
  // How many are kept at most; 0: none. Fewer: the oldest go.
  virtual void set_capacity(size_t exemplars) = 0;
};

}  // namespace vagt::tsdb

// The life of one rule's alerts: inactive, pending, firing, kept firing, resolved. No I/O, no
// clock, no lock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/alert.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::rules {

// Resolved alerts are re-sent and kept this long, so that a receiver that missed the first message
// hears of it.
inline constexpr Duration kResolvedRetention = std::chrono::minutes(15);

// One alert as a query result asks for it.
struct AlertCandidate {
  Labels labels;
  std::shared_ptr<const Annotations> annotations;
  double value = 0;
};

struct TrackedAlert {
  Labels labels;
  std::shared_ptr<const Annotations> annotations;
  AlertState state = AlertState::Pending;
  double value = 0;
  Timestamp active_at{};
  std::optional<Timestamp> fired_at, resolved_at, keep_firing_since, last_sent_at;
  Timestamp valid_until{};

  enum class Change : uint8_t {
    None,
    Sent,
    State
  } change = Change::State;  // since it was last persisted
  uint64_t round = 0;        // the update that last saw it in a result
  void* series[2] = {nullptr,
                     nullptr};  // the group's ALERTS and ALERTS_FOR_STATE series while active
};

class AlertTracker {
 public:
  struct Options {
    Duration hold_for{}, keep_firing_for{};
    size_t limit = 0;  // pending and firing alerts; 0: any number
  };
  using Alerts = std::unordered_map<Labels, TrackedAlert, LabelsHash>;

  explicit AlertTracker(Options options) : options_(options) {}
  void set_options(Options options) { options_ = options; }
  const Options& options() const { return options_; }

  // Advances every alert by one evaluation at `now`. InvalidArgument: two candidates have the same
  // labels. LimitExceeded: too many alerts; all are forgotten then, as Prometheus does. A failed
  // call otherwise changes nothing.
  Status update(std::vector<AlertCandidate> candidates, Timestamp now);

  // Alerts to publish now: firing ones and resolved ones that are new or whose last message is
  // older than `resend_delay`. Marks them as sent, valid for four times the longer of delay and
  // interval. In label order.
  std::vector<Alert> take_due(Timestamp now, Duration resend_delay, Duration interval);

  // Until then an alert that is missing from the result keeps its state: after an outage the data
  // come back in pieces.
  void hold_missing_until(Timestamp until) { hold_missing_until_ = until; }

  // The alerts may be changed in place; none may be added or removed.
  Alerts& alerts() { return alerts_; }
  const Alerts& alerts() const { return alerts_; }
  size_t active() const;     // pending and firing
  AlertState state() const;  // the highest of its alerts'
  // Labels of alerts dropped since the last call.
  std::vector<Labels> take_dropped() { return std::exchange(dropped_, {}); }
  // Notes that an alert of these labels is gone.
  void drop(const Labels& labels) { dropped_.push_back(labels); }
  // Puts back an alert read from disk.
  void restore(TrackedAlert alert);

 private:
  bool advance(TrackedAlert& alert, Timestamp now);
  static bool needs_sending(const TrackedAlert& alert, Timestamp now, Duration resend_delay);
  const std::vector<TrackedAlert*>& in_label_order();

  Options options_;
  Alerts alerts_;
  std::vector<TrackedAlert*> order_;  // of alerts_, sorted; empty: to be made anew
  std::vector<Labels> dropped_;
  uint64_t round_ = 0;
  Timestamp hold_missing_until_{};
};

}  // namespace vagt::rules

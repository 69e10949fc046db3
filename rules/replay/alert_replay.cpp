#include "rules/replay/alert_replay.h"

#include <algorithm>

#include "rules/rule_output.h"

namespace vagt::rules {
namespace {

// Messages are wanted once, at the beginning and at the end of an alert.
constexpr Duration kNever = std::chrono::hours(24 * 365 * 50);

// Whether the alert's labels follow from the labels of the sample alone. Everything else that a
// template can ask for is the value, the time or the store.
bool vary(const AlertRule& rule) {
  const auto from_labels_only = [](const std::string& text) {
    static constexpr std::string_view kPieces[] = {"$labels.", ".Labels."};
    for (size_t at = text.find("{{"); at != std::string::npos; at = text.find("{{", at + 2)) {
      const size_t end = text.find("}}", at);
      if (end == std::string::npos) return false;
      std::string_view inner = std::string_view(text).substr(at + 2, end - at - 2);
      while (inner.starts_with('-') || inner.starts_with(' ')) inner.remove_prefix(1);
      while (inner.ends_with('-') || inner.ends_with(' ')) inner.remove_suffix(1);
      const auto* piece = std::find_if(std::begin(kPieces), std::end(kPieces),
                                       [&](std::string_view p) { return inner.starts_with(p); });
      if (piece == std::end(kPieces)) return false;
      if (!is_legacy_label_name(inner.substr(piece->size()))) return false;
    }
    return true;
  };
  return !std::all_of(rule.labels.begin(), rule.labels.end(),
                      [&](const auto& label) { return from_labels_only(label.second); });
}

}  // namespace

ColumnarGroup::AlertReplay::AlertReplay(const Rule& rule, const Surroundings& around,
                                        RuleQueries& queries, ReplayedRule& result)
    : RuleReplay(rule, queries, result),
      rule_(std::get<AlertRule>(rule)),
      around_(around),
      labels_vary_(vary(rule_)),
      templates_(
          {[this](const std::string& text, Timestamp at) { return queries_.at(text, at, stop_); },
           around_.external_url, around_.max_template_bytes}),
      tracker_({rule_.hold_for, rule_.keep_firing_for, around_.limit}) {}

// A series of the result appears or is gone at a slot.
struct ColumnarGroup::AlertReplay::Event {
  size_t slot = 0, series = 0;
  size_t sample = 0;  // its sample at the slot, when it appears
  bool appears = false;
  friend bool operator<(const Event& a, const Event& b) { return a.slot < b.slot; }
};

struct ColumnarGroup::AlertReplay::Present {
  size_t series = 0, since = 0, sample = 0;  // `sample` is the one at the slot `since`
};

// Goes over one stretch, from change to change.
class ColumnarGroup::AlertReplay::Walk {
 public:
  Walk(AlertReplay& rule, const query::Matrix& result, const SlotRange& slots)
      : rule_(rule), result_(result), slots_(slots), places_(result.size()) {
    for (size_t i = 0; i < result.size(); ++i) note_runs(i);
    std::stable_sort(events_.begin(), events_.end());
    if (rule.labels_vary_) return;
    rule.templates_.begin(slots.first, rule.around_.external_labels);
    labels_.reserve(result.size());
    for (const query::Series& series : result) {
      labels_.push_back(
          alert_labels(rule.rule_, {series.labels, slots.first, 0}, rule.templates_, nullptr));
    }
  }

  void run(const std::stop_token& stop) {
    auto event = events_.begin();
    // The first slot is always one: what the stretch before left behind may have gone.
    for (size_t slot = 0; slot < slots_.count && !stop.stop_requested();) {
      for (; event != events_.end() && event->slot == slot; ++event) apply(*event);
      const bool is_good = step(slot);
      size_t next = event != events_.end() ? event->slot : slots_.count;
      if (!is_good || (rule_.labels_vary_ && !present_.empty())) next = slot + 1;
      slot = std::min(next, next_transition(slot));
    }
  }

 private:
  void note_runs(size_t series) {
    const std::vector<Timestamp>& times = result_[series].samples.t;
    size_t end = SIZE_MAX;  // of the run, the slot after its last one
    for (size_t i = 0; i < times.size(); ++i) {
      const size_t slot = rule_.slot_of(slots_, times[i]);
      if (slot != end) {
        if (end != SIZE_MAX) events_.push_back({end, series, 0, false});
        events_.push_back({slot, series, i, true});
      }
      end = slot + 1;
    }
    if (end < slots_.count) events_.push_back({end, series, 0, false});
  }

  void apply(const Event& event) {
    size_t& place = places_[event.series];
    if (event.appears) {
      place = present_.size();
      present_.push_back({event.series, event.slot, event.sample});
      return;
    }
    present_[place] = present_.back();
    places_[present_[place].series] = place;
    present_.pop_back();
  }

  query::VectorSample sample_of(const Present& present, size_t slot) const {
    const query::Series& series = result_[present.series];
    const size_t i = present.sample + (slot - present.since);
    return {series.labels, series.samples.t[i], series.samples.v[i]};
  }

  bool step(size_t slot) {
    const Timestamp now = slots_.at(slot);
    rule_.templates_.begin(now, rule_.around_.external_labels);
    std::vector<AlertCandidate> candidates;
    candidates.reserve(present_.size());
    for (const Present& present : present_) {
      const query::VectorSample sample = sample_of(present, slot);
      candidates.push_back({rule_.labels_vary_
                                ? alert_labels(rule_.rule_, sample, rule_.templates_, nullptr)
                                : labels_[present.series],
                            nullptr, sample.v});
    }
    const Status status = rule_.tracker_.update(std::move(candidates), now);
    rule_.tracker_.take_dropped();
    if (!status.ok()) rule_.fail(status);
    if (status.code() == Code::LimitExceeded) rule_.collector_.end_all(now);
    for (const Alert& alert : rule_.tracker_.take_due(now, kNever, slots_.interval)) {
      if (rule_.collector_.hear(alert)) rule_.collector_.annotate(annotations(alert, slot));
    }
    return status.ok();
  }

  Annotations annotations(const Alert& alert, size_t slot) const {
    for (const Present& present : present_) {
      const query::VectorSample sample = sample_of(present, slot);
      const Labels labels = rule_.labels_vary_
                                ? alert_labels(rule_.rule_, sample, rule_.templates_, nullptr)
                                : labels_[present.series];
      if (labels == alert.labels)
        return alert_annotations(rule_.rule_, sample, rule_.templates_, nullptr);
    }
    return {};
  }

  // The next slot at which time alone changes an alert: it has been pending or kept long enough.
  size_t next_transition(size_t slot) const {
    const AlertTracker::Options& options = rule_.tracker_.options();
    size_t next = slots_.count;
    for (const auto& [labels, alert] : rule_.tracker_.alerts()) {
      if (alert.state == AlertState::Pending)
        next = std::min(next, slot_at_or_after(alert.active_at + options.hold_for));
      if (alert.state == AlertState::Firing && alert.keep_firing_since)
        next = std::min(next, slot_at_or_after(*alert.keep_firing_since + options.keep_firing_for));
    }
    return std::max(next, slot + 1);
  }

  size_t slot_at_or_after(Timestamp t) const {
    if (t <= slots_.first) return 0;
    const auto slot = (t - slots_.first + slots_.interval - Duration(1)) / slots_.interval;
    return std::min(slots_.count, static_cast<size_t>(slot));
  }

  AlertReplay& rule_;
  const query::Matrix& result_;
  const SlotRange slots_;
  std::vector<Event> events_;
  std::vector<Labels> labels_;    // of the alerts, by series; empty when they vary
  std::vector<Present> present_;  // at the current slot
  std::vector<size_t> places_;    // of the series in present_
};

Status ColumnarGroup::AlertReplay::take(const query::Matrix& result, const SlotRange& slots,
                                        const std::stop_token& stop) {
  stop_ = stop;
  Walk(*this, result, slots).run(stop);
  return stop.stop_requested() ? Status(Code::Cancelled, "stopped") : Status();
}

}  // namespace vagt::rules

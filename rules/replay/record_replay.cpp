#include "rules/replay/record_replay.h"

#include <fmt/core.h>

#include <cmath>

#include "base/sample.h"
#include "rules/rule_output.h"

namespace vagt::rules {

// The evaluations of one stretch, written in the order of time.
class ColumnarGroup::RecordReplay::Batch {
 public:
  Batch(RecordReplay& rule, const query::Matrix& result)
      : rule_(rule),
        result_(result),
        appender_(rule.queries_.options().store->appender()),
        next_(result.size(), 0) {
    labels_.reserve(result.size());
    for (const query::Series& series : result)
      labels_.push_back(record_labels(rule.rule_, series.labels));
  }

  Status write_slot(Timestamp at) {
    present_.clear();
    for (size_t i = 0; i < result_.size(); ++i) {
      const std::vector<Timestamp>& times = result_[i].samples.t;
      if (next_[i] < times.size() && times[next_[i]] == at) present_.push_back(i);
    }
    const Status status = write_present(at);
    for (const size_t series : present_) ++next_[series];
    return status;
  }
  Status commit() { return appender_->commit(); }

 private:
  using Written = std::unordered_map<Labels, tsdb::SeriesRef, LabelsHash>;

  Status write_present(Timestamp at) {
    if (rule_.limit_ > 0 && present_.size() > rule_.limit_) {
      rule_.fail({Code::LimitExceeded, fmt::format("exceeded limit of {} with {} series",
                                                   rule_.limit_, present_.size())});
      return end_others(at, {});
    }
    Written now;
    now.reserve(present_.size());
    for (const size_t series : present_) {
      const auto known = rule_.written_.find(labels_[series]);
      const auto ref = known != rule_.written_.end() ? known->second : tsdb::SeriesRef::None;
      if (!now.emplace(labels_[series], ref).second) {
        rule_.fail(Status::invalid(
            "vector contains metrics with the same labelset after applying rule labels"));
        return {};
      }
    }
    for (const size_t series : present_) {
      const double v = result_[series].samples.v[next_[series]];
      VAGT_CHECK_OK(append(labels_[series], now[labels_[series]], at,
                           std::isnan(v) && !is_stale(v) ? normal_nan() : v));
    }
    return end_others(at, std::move(now));
  }

  Status end_others(Timestamp at, Written now) {
    for (auto& [labels, ref] : rule_.written_) {
      if (now.count(labels) == 0) VAGT_CHECK_OK(append(labels, ref, at, stale_marker()));
    }
    rule_.written_ = std::move(now);
    return {};
  }

  Status append(const Labels& labels, tsdb::SeriesRef& ref, Timestamp at, double value) {
    if (ref == tsdb::SeriesRef::None) {
      VAGT_TRY(ref, appender_->series(labels));
    }
    const Code code = appender_->append(ref, {at, value});
    if (code == Code::Ok) return {};
    return {Code::Internal, fmt::format("{}: {}", labels.to_string(), code_name(code))};
  }

  RecordReplay& rule_;
  const query::Matrix& result_;
  const std::unique_ptr<tsdb::Appender> appender_;
  std::vector<Labels> labels_;  // of what is written, by series of the result
  std::vector<size_t> next_;    // the sample of each that comes next
  std::vector<size_t> present_;
};

Status ColumnarGroup::RecordReplay::take(const query::Matrix& result, const SlotRange& slots,
                                         const std::stop_token& stop) {
  Batch batch(*this, result);
  for (size_t i = 0; i < slots.count; ++i) {
    if (stop.stop_requested()) return {Code::Cancelled, "stopped"};
    VAGT_CHECK_OK(batch.write_slot(slots.at(i) - queries_.options().query_offset));
  }
  return batch.commit();
}

}  // namespace vagt::rules

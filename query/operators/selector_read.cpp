#include "query/operators/selector_read.h"

#include "query/operators/probe.h"

namespace vagt::query {
namespace {
constexpr size_t kReadAtOnce = 4096;
}

Status read_series(EvalContext& context, tsdb::SeriesCursor& cursor, SampleColumns& out) {
  out.clear();
  size_t before = 0;
  while (cursor.read(out, kReadAtOnce)) {
    VAGT_CHECK_OK(context.hold(out.size() - before));
    before = out.size();
  }
  context.stats.samples_read += out.size();
  ++context.stats.series_read;
  return {};
}

SelectorRead::SelectorRead(EvalContext& context, const Expr& expr, const VectorSelector& selector,
                           std::string_view function)
    : context_(context),
      cost_(context.cost_of(expr)),
      selector_(selector),
      time_(context.times.at(&expr)),
      function_(function) {}

SelectorRead::~SelectorRead() { context_.release(held_); }

Result<bool> SelectorRead::next() {
  if (cost_ == nullptr) return next_series();
  const StopWatch watch(*cost_);
  VAGT_TRY(const bool more, next_series());
  if (!more) return false;
  ++cost_->series_read;
  cost_->samples_read += samples_->size();
  return true;
}

Result<bool> SelectorRead::next_series() {
  VAGT_CHECK_OK(context_.check());
  if (time_.shared < 0) return next_stored();
  SharedRead& read = *context_.shared[static_cast<size_t>(time_.shared)];
  if (!read.filled) VAGT_CHECK_OK(fill(read));
  if (position_ == read.series.size()) return false;
  labels_ = &read.series[position_].labels;
  samples_ = &read.series[position_].samples;
  ++position_;
  return true;
}

Result<bool> SelectorRead::next_stored() {
  if (!cursor_) {
    cursor_ =
        context_.querier->select(selector_.matchers, {time_.read_start, time_.read_end, function_});
  }
  context_.release(held_);
  held_ = 0;
  if (!cursor_->next()) {
    VAGT_CHECK_OK(cursor_->status());
    return false;
  }
  const Status read = read_series(context_, *cursor_, buffer_);
  held_ = buffer_.size();
  VAGT_CHECK_OK(read);
  labels_ = &cursor_->labels();
  samples_ = &buffer_;
  return true;
}

Status SelectorRead::fill(SharedRead& read) {
  const std::unique_ptr<tsdb::SeriesCursor> cursor =
      context_.querier->select(read.matchers, {read.start, read.end, ""});
  while (cursor->next()) {
    VAGT_CHECK_OK(context_.check());
    StoredSeries series;
    series.labels = cursor->labels();
    VAGT_CHECK_OK(read_series(context_, *cursor, series.samples));
    if (series.samples.size() > 0) read.series.push_back(std::move(series));
  }
  VAGT_CHECK_OK(cursor->status());
  read.filled = true;
  return {};
}

}  // namespace vagt::query

#include "rules/replay/overlay_store.h"

#include <algorithm>

#include "base/matcher.h"
#include "base/sample.h"

namespace vagt::rules {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}
void insert(Names& names, const std::string& name) {
  const auto place = std::lower_bound(names.begin(), names.end(), name);
  if (place == names.end() || *place != name) names.insert(place, name);
}
bool is_alert_series(std::string_view metric) {
  return metric == "ALERTS" || metric == "ALERTS_FOR_STATE";
}

Result<Names> merged(Result<Names> a, Result<Names> b) {
  if (!a) return a;
  if (!b) return b;
  Names all;
  std::set_union(a->begin(), a->end(), b->begin(), b->end(), std::back_inserter(all));
  return all;
}

}  // namespace

// One series after the other, from both stores; of a replaced one history ends at `from`, with a
// marker, so that its last value does not reach into the replay.
class OverlayStore::OverlayCursor final : public tsdb::SeriesCursor {
 public:
  OverlayCursor(const OverlayStore& store, std::unique_ptr<tsdb::SeriesCursor> history,
                std::unique_ptr<tsdb::SeriesCursor> results, Timestamp end)
      : store_(store), history_(std::move(history)), results_(std::move(results)), end_(end) {
    has_history_ = history_->next();
    has_results_ = results_->next();
  }

  bool next() override {
    if (in_history_) has_history_ = history_->next();
    if (in_results_) has_results_ = results_->next();
    in_history_ = in_results_ = ends_ = false;
    if (!has_history_ && !has_results_) return false;
    in_history_ = has_history_ && (!has_results_ || history_->labels() <= results_->labels());
    in_results_ = has_results_ && (!has_history_ || results_->labels() <= history_->labels());
    is_cut_ = in_history_ && store_.is_replaced(history_->labels());
    reads_history_ = in_history_;
    return true;
  }

  const Labels& labels() const override {
    return in_history_ ? history_->labels() : results_->labels();
  }

  bool read(SampleColumns& out, size_t max) override {
    const size_t before = out.size();
    if (reads_history_) {
      reads_history_ = history_->read(out, max);
      if (is_cut_) cut(out, before);
      if (out.size() > before) return true;
    }
    if (in_results_ && results_->read(out, max)) {
      if (ends_ && out.t[before] != store_.from_) {
        out.t.insert(out.t.begin() + static_cast<ptrdiff_t>(before), store_.from_);
        out.v.insert(out.v.begin() + static_cast<ptrdiff_t>(before), stale_marker());
      }
      ends_ = false;
      return true;
    }
    if (!std::exchange(ends_, false)) return false;
    out.push(store_.from_, stale_marker());
    return true;
  }

  Status status() const override {
    const Status status = history_->status();
    return status.ok() ? results_->status() : status;
  }

 private:
  void cut(SampleColumns& out, size_t begin) {
    const auto first = out.t.begin() + static_cast<ptrdiff_t>(begin);
    const auto end = std::lower_bound(first, out.t.end(), store_.from_);
    ends_ = ends_ || (end != first && store_.from_ <= end_);
    if (end != out.t.end()) reads_history_ = false;
    const auto kept = static_cast<size_t>(end - out.t.begin());
    out.t.resize(kept), out.v.resize(kept);
  }

  const OverlayStore& store_;
  const std::unique_ptr<tsdb::SeriesCursor> history_, results_;
  const Timestamp end_;                             // of what was asked for
  bool has_history_ = false, has_results_ = false;  // the cursor stands on a series
  bool in_history_ = false, in_results_ = false;    // which is the current one
  bool is_cut_ = false, reads_history_ = false, ends_ = false;
};

class OverlayStore::OverlayQuerier final : public tsdb::Querier {
 public:
  OverlayQuerier(const OverlayStore& store, Timestamp mint, Timestamp maxt)
      : store_(store),
        history_(store.history_.querier(mint, maxt)),
        results_(store.results_.querier(mint, maxt)) {}

  std::unique_ptr<tsdb::SeriesCursor> select(std::span<const Matcher> matchers,
                                             const tsdb::SelectHints& hints) override {
    auto history = history_->select(matchers, hints);
    if (!store_.may_be_replaced(matchers)) return history;
    return std::make_unique<OverlayCursor>(store_, std::move(history),
                                           results_->select(matchers, hints), hints.end);
  }
  Result<Names> label_values(std::string_view name, std::span<const Matcher> matchers) override {
    return merged(history_->label_values(name, matchers), results_->label_values(name, matchers));
  }
  Result<Names> label_names(std::span<const Matcher> matchers) override {
    return merged(history_->label_names(matchers), results_->label_names(matchers));
  }

 private:
  const OverlayStore& store_;
  const std::unique_ptr<tsdb::Querier> history_, results_;
};

void OverlayStore::replaces(const Rule& rule) {
  insert(std::holds_alternative<RecordRule>(rule) ? metrics_ : alerts_, rule_name(rule));
}

std::unique_ptr<tsdb::Querier> OverlayStore::querier(Timestamp mint, Timestamp maxt) {
  return std::make_unique<OverlayQuerier>(*this, mint, maxt);
}

bool OverlayStore::is_replaced(const Labels& labels) const {
  const std::string_view metric = labels.get(kMetricName);
  return contains(metrics_, metric) ||
         (is_alert_series(metric) && contains(alerts_, labels.get(kAlertName)));
}

bool OverlayStore::may_be_replaced(std::span<const Matcher> matchers) const {
  if (metrics_.empty() && alerts_.empty()) return false;
  for (const Matcher& matcher : matchers) {
    if (matcher.name() == kMetricName && matcher.op() == MatchOp::Equal)
      return contains(metrics_, matcher.value()) || is_alert_series(matcher.value());
  }
  return true;
}

}  // namespace vagt::rules

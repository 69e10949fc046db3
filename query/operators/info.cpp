// info(): adds the data labels of info series (target_info, …) to the series of the same job and
// instance.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "query/functions.h"
#include "query/operators/build.h"
#include "query/operators/label_sets.h"
#include "query/operators/selector_read.h"

namespace vagt::query {
namespace {

constexpr std::string_view kDefaultInfo = "target_info";
constexpr Duration kOpenStart{1};

// What info's second argument asks for.
struct Wanted {
  std::vector<Matcher> names;  // on __name__
  std::map<std::string, std::vector<Matcher>> data;

  bool is_info_name(std::string_view name) const {
    return std::all_of(names.begin(), names.end(),
                       [&](const Matcher& m) { return m.matches(name); });
  }
  bool lists(std::string_view label) const {
    return data.empty() || data.count(std::string(label)) > 0;
  }
  // False: a series without info labels is not what was asked for.
  bool allows_missing() const {
    for (const auto& [name, matchers] : data) {
      for (const Matcher& m : matchers) {
        if (!m.matches_empty()) return false;
      }
    }
    return true;
  }
};

Result<Wanted> read_wanted(const PlanNode& node) {
  Wanted wanted;
  if (node.children.size() < 2) {
    wanted.names.push_back(Matcher::equal(std::string(kMetricName), std::string(kDefaultInfo)));
    return wanted;
  }
  const auto& selector = std::get<VectorSelector>(node.children[1].expr->node);
  bool says_which = false;
  for (const Matcher& m : selector.matchers) {
    if (m.name() != kMetricName) {
      wanted.data[m.name()].push_back(m);
      continue;
    }
    wanted.names.push_back(m);
    says_which = says_which || m.op() == MatchOp::Equal || m.op() == MatchOp::Regex;
  }
  if (wanted.names.empty()) {
    wanted.names.push_back(Matcher::equal(std::string(kMetricName), std::string(kDefaultInfo)));
  } else if (!says_which) {
    // Only told what it is not: any info metric else.
    VAGT_TRY(Matcher any, Matcher::make(MatchOp::Regex, std::string(kMetricName), ".+_info"));
    wanted.names.push_back(std::move(any));
  }
  return wanted;
}

// The instant whose info series count for a step: where the first selector of the expression looks.
Timestamp reference_time(const PlanNode& node, Timestamp step, const EvalContext& context) {
  const auto found = context.times.find(node.expr);
  if (found != context.times.end()) step = found->second.effective(step);
  for (const PlanNode& child : node.children) {
    if (child.expr->type == ValueType::Vector || child.expr->type == ValueType::Matrix)
      return reference_time(child, step, context);
  }
  return step;
}

// Info series, indexed by what identifies a target.
class InfoSeries {
 public:
  InfoSeries(std::vector<Timestamp> references, EvalContext& context)
      : references_(std::move(references)),
        context_(context),
        lookback_(context.options.lookback),
        index_(LabelPick({"instance", "job"}, false)) {}
  ~InfoSeries() { context_.release(held_); }
  InfoSeries(const InfoSeries&) = delete;
  InfoSeries& operator=(const InfoSeries&) = delete;

  Status read(const Wanted& wanted) {
    std::vector<Matcher> matchers = wanted.names;
    for (const auto& [name, list] : wanted.data)
      matchers.insert(matchers.end(), list.begin(), list.end());
    const auto [first, last] = std::minmax_element(references_.begin(), references_.end());
    const std::unique_ptr<tsdb::SeriesCursor> cursor =
        context_.querier->select(matchers, {*first - lookback_ + kOpenStart, *last, "info"});
    SampleColumns samples;
    while (cursor->next()) {
      VAGT_CHECK_OK(context_.check());
      VAGT_CHECK_OK(read_series(context_, *cursor, samples));
      add(cursor->labels(), samples);
      context_.release(samples.size());
      held_ += references_.size();
      VAGT_CHECK_OK(context_.hold(references_.size()));
    }
    return cursor->status();
  }

  // The info series of `base` at a step, the newest one per metric name.
  Status at(const Labels& base, size_t step, std::vector<size_t>& found) const {
    found.clear();
    const size_t group = index_.find(base);
    if (group == GroupIndex::kNone) return {};
    for (size_t candidate : members_[group]) {
      const Timestamp seen = series_[candidate].seen[step];
      if (seen == kNever) continue;
      const std::string_view name = series_[candidate].labels.get(kMetricName);
      const auto same = std::find_if(found.begin(), found.end(), [&](size_t other) {
        return series_[other].labels.get(kMetricName) == name;
      });
      if (same == found.end()) {
        found.push_back(candidate);
      } else if (series_[*same].seen[step] == seen) {
        return duplicate(*same, candidate, seen);
      } else if (series_[*same].seen[step] < seen) {
        *same = candidate;
      }
    }
    return {};
  }
  const Labels& labels(size_t series) const { return series_[series].labels; }
  // How many info series `base` has to look at.
  size_t count(const Labels& base) const {
    const size_t group = index_.find(base);
    return group == GroupIndex::kNone ? 0 : members_[group].size();
  }

 private:
  static constexpr Timestamp kNever = Timestamp::min();
  struct Entry {
    Labels labels;
    std::vector<Timestamp> seen;  // by step: when its newest sample was, kNever for none
  };

  void add(const Labels& labels, const SampleColumns& samples) {
    Entry entry{labels, std::vector<Timestamp>(references_.size(), kNever)};
    for (size_t i = 0; i < references_.size(); ++i) {
      const auto after = std::upper_bound(samples.t.begin(), samples.t.end(), references_[i]);
      if (after == samples.t.begin()) continue;
      const size_t newest = static_cast<size_t>(after - samples.t.begin()) - 1;
      if (samples.t[newest] > references_[i] - lookback_ && !is_stale(samples.v[newest]))
        entry.seen[i] = samples.t[newest];
    }
    const size_t group = index_.find_or_add(labels);
    if (group == members_.size()) members_.emplace_back();
    members_[group].push_back(series_.size());
    series_.push_back(std::move(entry));
  }

  Status duplicate(size_t a, size_t b, Timestamp at) const {
    const std::string when = std::to_string(to_millis(at));
    return Status::invalid("found duplicate series for info metric: existing " +
                           series_[a].labels.to_string() + " @ " + when + ", new " +
                           series_[b].labels.to_string() + " @ " + when);
  }

  const std::vector<Timestamp> references_;
  EvalContext& context_;
  const Duration lookback_;
  size_t held_ = 0;
  GroupIndex index_;
  std::vector<std::vector<size_t>> members_;
  std::vector<Entry> series_;
};

Result<Labels> enriched(const Labels& base, const std::vector<size_t>& infos,
                        const InfoSeries& series, const Wanted& wanted) {
  LabelsBuilder added;
  for (size_t info : infos) {
    for (const Label& label : series.labels(info).items()) {
      if (label.name == kMetricName || !wanted.lists(label.name)) continue;
      const std::string_view before = added.get(label.name);
      if (!before.empty() && before != label.value)
        return Status::invalid("conflicting label: " + std::string(label.name));
      if (!base.has(label.name)) added.set(label.name, label.value);
    }
  }
  LabelsBuilder result(base);
  for (const auto& [name, value] : added.items()) result.set(name, value);
  return result.build();
}

class Enricher {
 public:
  Enricher(const Wanted& wanted, const InfoSeries& series, Table& table, EvalContext& context)
      : wanted_(wanted), series_(series), table_(table), out_(table.rows()), context_(context) {}

  Status add(const StepBatch& in, size_t row) {
    const Labels& base = in.labels[row];
    const bool is_info = wanted_.is_info_name(base.get(kMetricName));
    std::map<std::vector<size_t>, size_t> rows;  // the infos found → the row of their labels
    std::vector<size_t> infos;
    for (size_t step = 0; step < in.steps(); ++step) {
      if (in.mask(row)[step] == 0) continue;
      infos.clear();
      if (!is_info) {
        if (!context_.may_go_on(series_.count(base))) return context_.check();
        VAGT_CHECK_OK(series_.at(base, step, infos));
        if (infos.empty() && !wanted_.allows_missing()) continue;
      }
      auto known = rows.find(infos);
      if (known == rows.end()) {
        VAGT_TRY(Labels labels, enriched(base, infos, series_, wanted_));
        known = rows.emplace(infos, out_.add(std::move(labels), in.drop_name[row] != 0)).first;
        VAGT_CHECK_OK(table_.recount());
      }
      out_.row(known->second)[step] = in.row(row)[step];
      out_.mask(known->second)[step] = 1;
    }
    return {};
  }

 private:
  const Wanted& wanted_;
  const InfoSeries& series_;
  Table& table_;
  StepBatch& out_;
  EvalContext& context_;
};

}  // namespace

Result<OperatorPtr> make_info(const PlanNode& node, const StepGrid& grid, EvalContext& context) {
  VAGT_TRY(OperatorPtr input, make_operator(node.children[0], grid, context));
  VAGT_TRY(const Wanted wanted, read_wanted(node));
  std::vector<Timestamp> references;
  for (size_t i = 0; i < grid.count; ++i)
    references.push_back(reference_time(node.children[0], grid.at(i), context));
  const std::shared_ptr<Operator> shared = std::move(input);
  OperatorPtr enriching = make_deferred([=, &context]() -> Result<std::unique_ptr<Table>> {
    InfoSeries series(references, context);
    VAGT_CHECK_OK(series.read(wanted));
    auto table = std::make_unique<Table>(grid.count, context);
    Enricher enricher(wanted, series, *table, context);
    StepBatch batch;
    while (true) {
      VAGT_TRY(const bool more, shared->next(batch));
      if (!more) return table;
      for (size_t row = 0; row < batch.rows(); ++row) VAGT_CHECK_OK(enricher.add(batch, row));
    }
  });
  return make_merge(std::move(enriching), grid.count, context);
}

}  // namespace vagt::query

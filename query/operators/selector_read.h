// Samples as selectors take them from the store: series by series, or from a read that several
// selectors share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "query/operators/context.h"

namespace vagt::query {

struct StoredSeries {
  Labels labels;
  SampleColumns samples;
};

// One read of the store that several selectors use; filled by the first of them.
struct SharedRead {
  std::vector<Matcher> matchers;
  Timestamp start{}, end{};
  bool filled = false;
  std::vector<StoredSeries> series;
};

// Walks the series of one selector in Labels order. Stale markers are included; a shared read may
// hand out more time than was asked for.
class SelectorRead {
 public:
  // `expr` is the selector, or the range vector around it.
  SelectorRead(EvalContext& context, const Expr& expr, const VectorSelector& selector,
               std::string_view function);
  ~SelectorRead();
  SelectorRead(const SelectorRead&) = delete;
  SelectorRead& operator=(const SelectorRead&) = delete;

  // False at the end. labels() and samples() are valid until the next call.
  Result<bool> next();
  const Labels& labels() const { return *labels_; }
  const SampleColumns& samples() const { return *samples_; }

 private:
  Result<bool> next_series();
  Result<bool> next_stored();
  Status fill(SharedRead& read);

  EvalContext& context_;
  NodeCost* const cost_;
  const VectorSelector& selector_;
  const ResolvedTime time_;
  const std::string function_;
  std::unique_ptr<tsdb::SeriesCursor> cursor_;
  SampleColumns buffer_;
  size_t held_ = 0, position_ = 0;
  const Labels* labels_ = nullptr;
  const SampleColumns* samples_ = nullptr;
};

// Reads all samples of the cursor's current series into `out`, counting them.
Status read_series(EvalContext& context, tsdb::SeriesCursor& cursor, SampleColumns& out);

}  // namespace vagt::query

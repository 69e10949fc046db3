// label_replace and label_join: they look at labels only, not at values.
#include <algorithm>
#include <memory>

#include "base/regex.h"
#include "query/functions.h"
#include "query/operators/build.h"

namespace vagt::query {
namespace {

using Relabel = std::function<Status(const Labels& in, LabelsBuilder& out, bool& changed)>;

// Nested calls can multiply a value's length each time, so a long one counts as the samples that
// would take the same room. Labels as people write them cost nothing.
Status hold_text(size_t bytes, EvalContext& context) {
  constexpr size_t kFreeBytes = 1024;
  VAGT_CHECK_OK(context.check());
  return bytes <= kFreeBytes ? Status() : context.hold(bytes / sizeof(Sample));
}

// What expanding may come to: each reference gives the whole of the source at most.
size_t most_bytes(std::string_view replacement, std::string_view source) {
  const auto references =
      static_cast<size_t>(std::count(replacement.begin(), replacement.end(), '$'));
  return replacement.size() + references * source.size();
}

Result<Relabel> make_replace(const PlanNode& node, EvalContext& context) {
  const std::string dst = string_argument(node.children[1]);
  const std::string replacement = string_argument(node.children[2]);
  const std::string src = string_argument(node.children[3]);
  const std::string& pattern = string_argument(node.children[4]);
  Result<Regex> compiled = Regex::compile(pattern);
  if (!compiled.ok())
    return Status::invalid("invalid regular expression in label_replace(): " + pattern);
  if (!is_utf8_name(dst))
    return Status::invalid("invalid destination label name in label_replace(): " + dst);
  const auto regex = std::make_shared<const Regex>(std::move(compiled).value());
  return Relabel([=, &context](const Labels& in, LabelsBuilder& out, bool& changed) -> Status {
    const auto groups = regex->groups(in.get(src));
    if (!groups) return {};
    VAGT_CHECK_OK(hold_text(most_bytes(replacement, in.get(src)), context));
    std::string value;
    regex->expand(replacement, *groups, value);
    out.set(dst, value);
    changed = true;
    return {};
  });
}

Result<Relabel> make_join(const PlanNode& node, EvalContext& context) {
  const std::string dst = string_argument(node.children[1]);
  const std::string separator = string_argument(node.children[2]);
  std::vector<std::string> sources;
  for (size_t i = 3; i < node.children.size(); ++i) {
    sources.push_back(string_argument(node.children[i]));
    if (!is_utf8_name(sources.back()))
      return Status::invalid("invalid source label name in label_join(): " + sources.back());
  }
  if (!is_utf8_name(dst))
    return Status::invalid("invalid destination label name in label_join(): " + dst);
  return Relabel([=, &context](const Labels& in, LabelsBuilder& out, bool& changed) -> Status {
    size_t bytes = separator.size() * sources.size();
    for (const std::string& source : sources) bytes += in.get(source).size();
    VAGT_CHECK_OK(hold_text(bytes, context));
    std::string value;
    for (size_t i = 0; i < sources.size(); ++i) {
      if (i > 0) value += separator;
      value += in.get(sources[i]);
    }
    out.set(dst, value);
    changed = true;
    return {};
  });
}

}  // namespace

Result<OperatorPtr> make_label_call(const PlanNode& node, const StepGrid& grid,
                                    EvalContext& context) {
  const bool replaces = std::get<Call>(node.expr->node).function->name == "label_replace";
  VAGT_TRY(const Relabel relabel,
           replaces ? make_replace(node, context) : make_join(node, context));
  const bool names_metric = string_argument(node.children[1]) == kMetricName;
  VAGT_TRY(OperatorPtr input, make_operator(node.children[0], grid, context));
  OperatorPtr mapped = make_map(std::move(input), [relabel, names_metric](StepBatch& batch) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      LabelsBuilder builder(batch.labels[row]);
      bool changed = false;
      VAGT_CHECK_OK(relabel(batch.labels[row], builder, changed));
      if (!changed) continue;
      batch.labels[row] = builder.build();
      // A name that was written on purpose stays.
      if (names_metric) batch.drop_name[row] = 0;
    }
    return Status();
  });
  return make_merge(std::move(mapped), grid.count, context);
}

}  // namespace vagt::query

// label_replace and label_join: they look at labels only, not at values.
#include <memory>

#include "base/regex.h"
#include "query/functions.h"
#include "query/operators/build.h"

namespace vagt::query {
namespace {

using Relabel = std::function<void(const Labels& in, LabelsBuilder& out, bool& changed)>;

Result<Relabel> make_replace(const PlanNode& node) {
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
  return Relabel([=](const Labels& in, LabelsBuilder& out, bool& changed) {
    const auto groups = regex->groups(in.get(src));
    if (!groups) return;
    std::string value;
    regex->expand(replacement, *groups, value);
    out.set(dst, value);
    changed = true;
  });
}

Result<Relabel> make_join(const PlanNode& node) {
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
  return Relabel([=](const Labels& in, LabelsBuilder& out, bool& changed) {
    std::string value;
    for (size_t i = 0; i < sources.size(); ++i) {
      if (i > 0) value += separator;
      value += in.get(sources[i]);
    }
    out.set(dst, value);
    changed = true;
  });
}

}  // namespace

Result<OperatorPtr> make_label_call(const PlanNode& node, const StepGrid& grid,
                                    EvalContext& context) {
  const bool replaces = std::get<Call>(node.expr->node).function->name == "label_replace";
  VAGT_TRY(const Relabel relabel, replaces ? make_replace(node) : make_join(node));
  const bool names_metric = string_argument(node.children[1]) == kMetricName;
  VAGT_TRY(OperatorPtr input, make_operator(node.children[0], grid, context));
  OperatorPtr mapped = make_map(std::move(input), [relabel, names_metric](StepBatch& batch) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      LabelsBuilder builder(batch.labels[row]);
      bool changed = false;
      relabel(batch.labels[row], builder, changed);
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

#include "query/operators/join_labels.h"

#include <algorithm>

#include "query/operators/label_sets.h"

namespace vagt::query {

ResultLabels::ResultLabels(const Binary& binary, bool delayed_name_removal)
    : matching_(*binary.matching),
      names_(matching_.labels),
      include_(matching_.include),
      one_to_one_(matching_.card == VectorMatching::Card::OneToOne) {
  std::sort(names_.begin(), names_.end());
  std::sort(include_.begin(), include_.end());
  drops_name_ = !is_comparison(binary.op) || (binary.return_bool && !delayed_name_removal);
  flags_name_ = binary.return_bool && delayed_name_removal;
}

bool ResultLabels::keeps(std::string_view name) const {
  if (drops_name_ && is_metadata_label(name)) return false;
  if (one_to_one_ && std::binary_search(names_.begin(), names_.end(), name) != matching_.on)
    return false;
  return !std::binary_search(include_.begin(), include_.end(), name);
}

Labels ResultLabels::of(const Labels& many, const Labels& one) const {
  std::vector<Label> labels;
  labels.reserve(many.size() + include_.size());
  for (const Label& label : many.items()) {
    if (keeps(label.name)) labels.push_back(label);
  }
  if (include_.empty()) return Labels::from_sorted(labels);
  for (const std::string& name : include_) {
    const std::string_view value = one.get(name);
    if (!value.empty()) labels.push_back({name, value});
  }
  std::sort(labels.begin(), labels.end());
  // A label may be included twice by name.
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return Labels::from_sorted(labels);
}

}  // namespace vagt::query

#include "scrape/sample_labels.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "exposition/number.h"

namespace vagt::scrape {
namespace {

using exposition::MetricType;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// Of one sample where label_limit does not allow more: the store is at work for seconds on a series
// with a million.
constexpr uint64_t kMostLabels = 32'768;

std::string unescaped(std::string_view raw, bool has_escapes) {
  if (!has_escapes) return std::string(raw);
  std::string text;
  exposition::unescape(raw, text);
  return text;
}

// OpenMetrics's canonical spelling of a float: "1" is "1.0".
std::string canonical_float(std::string_view text) {
  const exposition::FloatResult read = exposition::read_float(text);
  if (read.fault != exposition::FloatFault::None) return std::string(text);
  if (!std::isfinite(read.value)) return format_float(read.value);
  std::string spelled = format_float_g(read.value);
  if (spelled.find_first_of("e.") == std::string::npos) spelled += ".0";
  return spelled;
}

// The label to be spelled as a float; "" for none.
std::string_view float_label(std::string_view metric, const CurrentFamily& family) {
  if (family.type == MetricType::Summary && metric == family.name) return "quantile";
  if (family.type == MetricType::Histogram && metric.starts_with(family.name) &&
      metric.substr(family.name.size()) == "_bucket") {
    return "le";
  }
  return {};
}

// Name and labels as exposed, sorted; empty values are still there, as honor_labels needs them.
Result<Pairs> exposed_labels(const exposition::Entry& sample, const CurrentFamily& family) {
  Pairs pairs;
  pairs.reserve(sample.labels.size() + 1);
  pairs.emplace_back(kMetricName, unescaped(sample.raw_name, sample.name_has_escapes));
  const std::string_view floats = float_label(sample.raw_name, family);
  for (const exposition::RawLabel& label : sample.labels) {
    std::string value = unescaped(label.raw_value, label.value_has_escapes);
    if (!floats.empty() && label.raw_name == floats) value = canonical_float(value);
    pairs.emplace_back(unescaped(label.raw_name, label.name_has_escapes), std::move(value));
  }
  std::sort(pairs.begin(), pairs.end());
  const auto twice = std::adjacent_find(
      pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != pairs.end()) {
    return Status::invalid(
        fmt::format("label name {} is not unique: invalid sample", quote(twice->first)));
  }
  return pairs;
}

bool has_name(const Pairs& sorted, std::string_view name) {
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [](const auto& pair, std::string_view n) { return pair.first < n; });
  return found != sorted.end() && found->first == name;
}

// The target's labels win; what they replace is kept as exported_<name>.
void override_with(LabelsBuilder& labels, const Labels& target) {
  std::vector<std::pair<std::string, std::string>> conflicts;
  for (const Label& label : target.items()) {
    const std::string existing(labels.get(label.name));
    if (!existing.empty()) conflicts.emplace_back(label.name, existing);
    labels.set(label.name, label.value);
  }
  std::stable_sort(conflicts.begin(), conflicts.end(),
                   [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  for (const auto& [name, value] : conflicts) {
    std::string renamed = name;
    do {
      renamed.insert(0, "exported_");
    } while (!labels.get(renamed).empty());
    labels.set(renamed, value);
  }
}

Status check_names(const LabelsBuilder& labels, NameScheme scheme) {
  const std::string_view metric = labels.get(kMetricName);
  if (metric.empty()) return Status::invalid("missing metric name (__name__ label)");
  bool valid = scheme == NameScheme::Legacy ? is_legacy_metric_name(metric) : is_utf8_name(metric);
  for (const auto& [name, value] : labels.items()) {
    if (name == kMetricName) continue;
    valid =
        valid && (scheme == NameScheme::Legacy ? is_legacy_label_name(name) : is_utf8_name(name));
  }
  if (valid) return {};
  return Status::invalid(
      fmt::format("invalid metric name or label names: {}", labels.build().to_string()));
}

Status too_many_labels(std::string_view metric, uint64_t labels, uint64_t limit) {
  return Status(Code::LimitExceeded,
                fmt::format("label_limit exceeded (metric: {}, number of labels: {}, limit: {})",
                            metric.substr(0, 50), labels, limit));
}

Status check_limits(const LabelsBuilder& labels, const ScrapeLimits& limits) {
  const std::string_view metric = labels.get(kMetricName).substr(0, 50);
  if (limits.labels != 0 && labels.items().size() > limits.labels)
    return too_many_labels(metric, labels.items().size(), limits.labels);
  if (limits.label_name_length == 0 && limits.label_value_length == 0) return {};
  for (const auto& [name, value] : labels.items()) {
    const std::string_view shown = std::string_view(name).substr(0, 50);
    if (limits.label_name_length != 0 && name.size() > limits.label_name_length) {
      return Status(Code::LimitExceeded,
                    fmt::format("label_name_length_limit exceeded (metric: {}, label name: {}, "
                                "length: {}, limit: {})",
                                metric, shown, name.size(), limits.label_name_length));
    }
    if (limits.label_value_length != 0 && value.size() > limits.label_value_length) {
      return Status(Code::LimitExceeded,
                    fmt::format("label_value_length_limit exceeded (metric: {}, label name: {}, "
                                "value: {}, length: {}, limit: {})",
                                metric, shown, quote(std::string_view(value).substr(0, 50)),
                                value.size(), limits.label_value_length));
    }
  }
  return {};
}

}  // namespace

Result<std::optional<Labels>> sample_labels(const exposition::Entry& sample,
                                            const CurrentFamily& family, const Labels& target,
                                            const SampleRules& rules) {
  // Before relabelling, which takes its time with so many.
  const uint64_t most = std::max(kMostLabels, rules.limits.labels);
  if (sample.labels.size() > most)
    return too_many_labels(sample.raw_name, sample.labels.size(), most);
  VAGT_TRY(const Pairs exposed, exposed_labels(sample, family));
  LabelsBuilder labels;
  for (const auto& [name, value] : exposed) {
    if (name.empty()) return Status::invalid("\"\" is not a valid label name");
    labels.set(name, value);
  }
  if (rules.honor_labels) {
    for (const Label& label : target.items()) {
      if (!has_name(exposed, label.name)) labels.set(label.name, label.value);
    }
  } else {
    override_with(labels, target);
  }
  if (!rules.metric_relabel.apply(labels) || labels.items().empty()) return std::optional<Labels>();
  VAGT_CHECK_OK(check_names(labels, rules.name_scheme));
  VAGT_CHECK_OK(check_limits(labels, rules.limits));
  return std::optional(labels.build());
}

}  // namespace vagt::scrape

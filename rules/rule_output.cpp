#include "rules/rule_output.h"

#include <fmt/core.h>

#include <algorithm>

#include "template/escape_text.h"

namespace vagt::rules {

Labels alert_labels(const AlertRule& rule, const query::VectorSample& sample,
                    const AlertTemplates& templates, Status* error) {
  LabelsBuilder builder(sample.labels);
  builder.erase(kMetricName);
  for (const auto& [name, text] : rule.labels)
    builder.set(name, templates.expand(rule.name, text, sample.labels, sample.v, error));
  builder.set(kAlertName, rule.name);
  return builder.build();
}

Annotations alert_annotations(const AlertRule& rule, const query::VectorSample& sample,
                              const AlertTemplates& templates, Status* error) {
  Annotations expanded;
  for (const auto& [name, text] : rule.annotations)
    expanded[name] = templates.expand(rule.name, text, sample.labels, sample.v, error);
  return expanded;
}

bool has_templated_annotations(const AlertRule& rule) {
  return std::any_of(rule.annotations.begin(), rule.annotations.end(), [](const auto& entry) {
    return entry.second.find("{{") != std::string::npos;
  });
}

Labels record_labels(const RecordRule& rule, const Labels& sample) {
  LabelsBuilder builder(sample);
  builder.set(kMetricName, rule.name);
  for (const auto& [name, value] : rule.labels) builder.set(name, value);
  return builder.build();
}

Labels with_external_labels(const Labels& labels, const Labels& external) {
  if (external.empty()) return labels;
  LabelsBuilder builder(labels);
  for (const Label& label : external.items()) {
    if (!labels.has(label.name)) builder.set(label.name, label.value);
  }
  return builder.build();
}

std::string generator_url(const std::string& external_url, const std::string& query) {
  return fmt::format("{}/graph?g0.expr={}&g0.tab=1", external_url, tmpl::escape_query(query));
}

}  // namespace vagt::rules

// What a rule makes of one sample of its expression's result: the labels and texts of an alert, or
// the labels of a recorded series.
#pragma once

#include "base/alert.h"
#include "base/labels.h"
#include "base/status.h"
#include "query/value.h"
#include "rules/alert_template.h"
#include "rules/rule.h"

namespace vagt::rules {

// `templates` has been told the time of the evaluation. A text that fails says so in its place;
// the first reason is left in `error`.
Labels alert_labels(const AlertRule& rule, const query::VectorSample& sample,
                    const AlertTemplates& templates, Status* error);
Annotations alert_annotations(const AlertRule& rule, const query::VectorSample& sample,
                              const AlertTemplates& templates, Status* error);
// Whether an annotation has anything to expand.
bool has_templated_annotations(const AlertRule& rule);

Labels record_labels(const RecordRule& rule, const Labels& sample);

// With the external labels that the set has no value of its own for.
Labels with_external_labels(const Labels& labels, const Labels& external);
// Where a reader finds the expression's graph; `query` as print_expr() prints it.
std::string generator_url(const std::string& external_url, const std::string& query);

}  // namespace vagt::rules

// From a sample's text to the labels of its series: unescape, join with the target's labels,
// relabel, check.
#pragma once

#include <optional>
#include <string_view>

#include "base/labels.h"
#include "base/status.h"
#include "exposition/parse.h"
#include "scrape/relabel.h"
#include "scrape/scrape_config.h"

namespace vagt::scrape {

// What a job asks of every sample. Immutable while a scrape runs.
struct SampleRules {
  bool honor_labels = false;
  bool honor_timestamps = true;
  bool track_timestamps_staleness = false;
  NameScheme name_scheme = NameScheme::Utf8;
  ScrapeLimits limits;
  Relabeler metric_relabel;
};

// The family a TYPE line announced: bounds of histograms and quantiles of summaries are spelled as
// floats ("1.0").
struct CurrentFamily {
  exposition::MetricType type = exposition::MetricType::Unknown;
  std::string_view name;
};

// nullopt: relabelling dropped it. InvalidArgument: bad or repeated names; LimitExceeded: a label
// limit.
Result<std::optional<Labels>> sample_labels(const exposition::Entry& sample,
                                            const CurrentFamily& family, const Labels& target,
                                            const SampleRules& rules);

}  // namespace vagt::scrape

// Prometheus's naming conventions (prometheus.io/docs/practices/naming), as client_golang's
// promlint words them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exposition/parse.h"

namespace vagt::cli {

struct MetricFamily {
  std::string name;
  exposition::MetricType type = exposition::MetricType::Unknown;
  std::string help;
  size_t series = 0;
  std::set<std::string> label_names;
};

// One text per fault, without the metric's name.
std::vector<std::string> lint_family(const MetricFamily& family);

}  // namespace vagt::cli

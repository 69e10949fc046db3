// Everything a reload reads, loaded and validated together before anything running is touched.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "config/prometheus_config.h"
#include "engine/flags.h"
#include "notify/notify_config.h"
#include "query/parse.h"
#include "rules/rule_file.h"

namespace vagt::engine {

struct Configuration {
  config::PrometheusConfig prometheus;  // defaults in plain Alertmanager mode
  std::vector<rules::RuleFile> rules;
  std::optional<notify::Config> notify;  // absent: no built-in Alertmanager configured
  std::string notify_file;               // where `notify` comes from; "": nowhere
  std::vector<std::string> notices;      // accepted without effect, each with its place
};

// What --enable-feature allows in expressions.
query::ParseOptions parse_options(const Flags& flags);
// A line for each feature that is unknown or does nothing here.
std::vector<std::string> feature_notices(const Flags& flags);

// Errors name file, line and column; several rule faults come one per line.
Result<Configuration> load_configuration(const Flags& flags);

}  // namespace vagt::engine

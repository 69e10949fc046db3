#include "engine/configuration.h"

#include <fmt/core.h>

#include <algorithm>

#include "config/alertmanager_config.h"

namespace vagt::engine {
namespace {

constexpr std::string_view kExperimentalFunctions = "promql-experimental-functions";
constexpr std::string_view kExtendedRanges = "promql-extended-range-selectors";
constexpr std::string_view kFillModifiers = "promql-binop-fill-modifiers";
constexpr std::string_view kDelayedNames = "promql-delayed-name-removal";

// Either they do something here, or what they switch on is so anyway.
constexpr std::string_view kFeatures[] = {kExperimentalFunctions,   kExtendedRanges,
                                          kFillModifiers,           kDelayedNames,
                                          "promql-duration-expr",   "promql-at-modifier",
                                          "promql-negative-offset", "new-service-discovery-manager",
                                          "expand-external-labels", "no-default-scrape-port",
                                          "auto-gomemlimit",        "auto-gomaxprocs",
                                          "concurrent-rule-eval",   "memory-snapshot-on-shutdown",
                                          "metadata-wal-records",   "delayed-compaction",
                                          "utf8-strict-mode",       "classic-mode",
                                          "exec-receiver"};
// Known to Prometheus or Alertmanager; whoever switches them on should hear that they do nothing.
constexpr std::string_view kIdleFeatures[] = {
    "exemplar-storage",       "extra-scrape-metrics",  "native-histograms",
    "remote-write-receiver",  "auto-reload-config",    "created-timestamp-zero-ingestion",
    "use-start-timestamps",   "promql-per-step-stats", "type-and-unit-labels",
    "otlp-deltatocumulative", "event-recorder",        "receiver-name-in-metrics",
    "group-key-in-metrics",   "alert-names-in-metrics"};

template <size_t N>
bool listed(const std::string_view (&names)[N], const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

notify::MatcherSyntax matcher_syntax(const Flags& flags) {
  if (flags.has_feature("classic-mode")) return notify::MatcherSyntax::Classic;
  if (flags.has_feature("utf8-strict-mode")) return notify::MatcherSyntax::Utf8;
  return notify::MatcherSyntax::Fallback;
}

Result<std::vector<rules::RuleFile>> load_rules(const std::vector<std::string>& globs,
                                                const query::ParseOptions& parse,
                                                std::vector<std::string>& notices) {
  std::vector<rules::RuleFile> files;
  std::string faults;
  for (const std::string& glob : globs)
    if (config::expand_globs({glob}).empty())
      notices.push_back(fmt::format("rule_files: {} matches no file, so it gives no rule", glob));
  for (const std::string& path : config::expand_globs(globs)) {
    rules::RuleFileResult loaded = rules::read_rule_file(path, {parse, false});
    for (const Status& fault : loaded.errors)
      faults += (faults.empty() ? "" : "\n") + fault.message();
    files.push_back(std::move(loaded.file));
  }
  if (!faults.empty()) return Status::invalid(std::move(faults));
  return files;
}

}  // namespace

query::ParseOptions parse_options(const Flags& flags) {
  query::ParseOptions options;
  options.experimental_functions = flags.has_feature(std::string(kExperimentalFunctions));
  options.extended_range_selectors = flags.has_feature(std::string(kExtendedRanges));
  options.binop_fill_modifiers = flags.has_feature(std::string(kFillModifiers));
  return options;
}

std::vector<std::string> feature_notices(const Flags& flags) {
  std::vector<std::string> notices;
  for (const std::string& feature : flags.features) {
    if (listed(kFeatures, feature)) continue;
    notices.push_back(listed(kIdleFeatures, feature)
                          ? fmt::format("--enable-feature={} has no effect here", feature)
                          : fmt::format("--enable-feature={} is not known", feature));
  }
  return notices;
}

Result<Configuration> load_configuration(const Flags& flags) {
  Configuration loaded;
  if (!flags.plain_alertmanager()) {
    VAGT_TRY(loaded.prometheus, config::load_prometheus_config(flags.config_file));
    VAGT_TRY(loaded.rules, load_rules(loaded.prometheus.rule_files, parse_options(flags),
                                      loaded.prometheus.notices));
  }
  loaded.notices = loaded.prometheus.notices;
  loaded.notify_file =
      flags.alertmanager_config.empty() ? loaded.prometheus.notify_file : flags.alertmanager_config;
  if (!loaded.notify_file.empty()) {
    VAGT_TRY(loaded.notify,
             config::load_alertmanager_config(loaded.notify_file, {matcher_syntax(flags)}));
    const config::AlertmanagerFindings findings = config::check_alertmanager_config(*loaded.notify);
    // What `check config` refuses is no reason to page nobody: the fallback goes out instead.
    for (const auto* list : {&findings.errors, &findings.warnings})
      loaded.notices.insert(loaded.notices.end(), list->begin(), list->end());
  }
  return loaded;
}

}  // namespace vagt::engine

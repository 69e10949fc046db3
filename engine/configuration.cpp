#include "engine/configuration.h"

#include <algorithm>
#include <array>
#include <utility>

#include "config/alertmanager_config.h"

namespace vagt::engine {
namespace {

constexpr std::string_view kExperimentalFunctions = "promql-experimental-functions";
constexpr std::string_view kExtendedRanges = "promql-extended-range-selectors";
constexpr std::string_view kFillModifiers = "promql-binop-fill-modifiers";
constexpr std::string_view kDelayedNames = "promql-delayed-name-removal";

// Features of Prometheus and Alertmanager that need nothing from us, or that later versions made
// the rule.
constexpr std::array kAcceptedFeatures = {kExperimentalFunctions,
                                          kExtendedRanges,
                                          kFillModifiers,
                                          kDelayedNames,
                                          std::string_view("promql-duration-expr"),
                                          std::string_view("exemplar-storage"),
                                          std::string_view("memory-snapshot-on-shutdown"),
                                          std::string_view("extra-scrape-metrics"),
                                          std::string_view("native-histograms"),
                                          std::string_view("promql-at-modifier"),
                                          std::string_view("promql-negative-offset"),
                                          std::string_view("remote-write-receiver"),
                                          std::string_view("new-service-discovery-manager"),
                                          std::string_view("expand-external-labels"),
                                          std::string_view("no-default-scrape-port"),
                                          std::string_view("auto-gomemlimit"),
                                          std::string_view("auto-gomaxprocs"),
                                          std::string_view("auto-reload-config"),
                                          std::string_view("concurrent-rule-eval"),
                                          std::string_view("metadata-wal-records"),
                                          std::string_view("delayed-compaction"),
                                          std::string_view("created-timestamp-zero-ingestion"),
                                          std::string_view("promql-per-step-stats"),
                                          std::string_view("use-start-timestamps"),
                                          std::string_view("type-and-unit-labels"),
                                          std::string_view("otlp-deltatocumulative"),
                                          std::string_view("utf8-strict-mode"),
                                          std::string_view("classic-mode"),
                                          std::string_view("receiver-name-in-metrics"),
                                          std::string_view("alert-names-in-metrics"),
                                          std::string_view("group-key-in-metrics"),
                                          std::string_view("event-recorder"),
                                          std::string_view("exec-receiver")};

notify::MatcherSyntax matcher_syntax(const Flags& flags) {
  if (flags.has_feature("classic-mode")) return notify::MatcherSyntax::Classic;
  if (flags.has_feature("utf8-strict-mode")) return notify::MatcherSyntax::Utf8;
  return notify::MatcherSyntax::Fallback;
}

Result<std::vector<rules::RuleFile>> load_rules(const std::vector<std::string>& globs,
                                                const query::ParseOptions& parse) {
  std::vector<rules::RuleFile> files;
  std::string faults;
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

std::vector<std::string> unknown_features(const Flags& flags) {
  std::vector<std::string> unknown;
  for (const std::string& feature : flags.features)
    if (std::find(kAcceptedFeatures.begin(), kAcceptedFeatures.end(), feature) ==
        kAcceptedFeatures.end())
      unknown.push_back(feature);
  return unknown;
}

Result<Configuration> load_configuration(const Flags& flags) {
  Configuration loaded;
  if (!flags.plain_alertmanager()) {
    VAGT_TRY(loaded.prometheus, config::load_prometheus_config(flags.config_file));
    VAGT_TRY(loaded.rules, load_rules(loaded.prometheus.rule_files, parse_options(flags)));
  }
  loaded.notices = loaded.prometheus.notices;
  std::string notify_file = flags.alertmanager_config;
  if (notify_file.empty()) notify_file = loaded.prometheus.notify_file;
  if (!notify_file.empty()) {
    VAGT_TRY(loaded.notify, config::load_alertmanager_config(notify_file, {matcher_syntax(flags)}));
    const config::AlertmanagerFindings findings = config::check_alertmanager_config(*loaded.notify);
    // What `check config` refuses is no reason to page nobody: the fallback goes out instead.
    for (const auto* list :
         {&std::as_const(loaded.notify->warnings), &findings.errors, &findings.warnings})
      loaded.notices.insert(loaded.notices.end(), list->begin(), list->end());
  }
  return loaded;
}

}  // namespace vagt::engine

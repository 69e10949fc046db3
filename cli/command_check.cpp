#include <memory>

#include "cli/check_config.h"
#include "cli/check_discovery.h"
#include "cli/check_metrics.h"
#include "cli/check_rules.h"
#include "cli/check_web.h"
#include "cli/command_line.h"

namespace vagt::cli {
namespace {

void add_lint(CLI::App& verb, LintOptions& lint) {
  verb.add_option("--lint", lint.checks, "all, duplicate-rules or none")->capture_default_str();
  verb.add_flag("--lint-fatal", lint.is_fatal, "Exit with 3 when lint finds something");
}

void add_features(CLI::App& verb, std::vector<std::string>& features) {
  verb.add_option("--enable-feature", features, "Features of PromQL to allow, comma-separated")
      ->allow_extra_args(false)
      ->delimiter(',');
}

void add_config_check(CLI::App& group, Invocation& invocation) {
  auto check = std::make_shared<CheckConfig>();
  CLI::App& verb =
      add_verb(group, invocation, "config", "Check prometheus.yml and the rule files it names",
               check, &check_config);
  verb.add_option("files", check->files, "Files")->required();
  verb.add_flag("--syntax-only", check->syntax_only, "Open no file that the configuration names");
  verb.add_flag("--agent", check->agent, "Refuse what Prometheus's agent mode refuses");
  add_lint(verb, check->lint);
  add_features(verb, check->features);
  verb.footer(
      "Says so when nobody would be paged.\n"
      "Exit code: 0 good, 1 bad, 3 lint findings with --lint-fatal.\n"
      "Examples:\n"
      "  vagtctl check config /etc/vagt/prometheus.yml\n"
      "  vagtctl check config --syntax-only prometheus.yml");
}

void add_rules_check(CLI::App& group, Invocation& invocation) {
  auto check = std::make_shared<CheckRules>();
  CLI::App& verb = add_verb(group, invocation, "rules", "Check rule files", check, &check_rules);
  verb.add_option("files", check->files, "Files")->required();
  add_lint(verb, check->lint);
  add_features(verb, check->features);
  verb.add_flag("--ignore-unknown-fields", check->ignore_unknown_fields,
                "Let keys pass that are not known");
  verb.footer(
      "Exit code: 0 good, 1 bad, 3 lint findings with --lint-fatal.\n"
      "Examples:\n"
      "  vagtctl check rules rules/*.yml\n"
      "  vagtctl check rules --lint=all --lint-fatal gpu.rules.yml");
}

void add_discovery_check(CLI::App& group, Invocation& invocation) {
  auto check = std::make_shared<CheckDiscovery>();
  CLI::App& verb =
      add_verb(group, invocation, "service-discovery",
               "Discover the targets of a job, and relabel them", check, &check_discovery);
  verb.add_option("config-file", check->file, "The prometheus.yml")->required();
  verb.add_option("job", check->job, "The job's name")->required();
  verb.add_option("--timeout", check->timeout, "The longest to wait for discovery")
      ->capture_default_str();
  verb.footer(
      "Prints a JSON list of discoveredLabels and labels; a target that relabelling drops has "
      "none.\n"
      "Ends as soon as every source has answered.\n"
      "Example:\n"
      "  vagtctl check service-discovery /etc/vagt/prometheus.yml gpu");
}

void add_web_check(CLI::App& group, Invocation& invocation) {
  auto check = std::make_shared<CheckWeb>();
  CLI::App& verb = add_verb(group, invocation, "web-config", "Check files of --web.config.file",
                            check, &check_web);
  verb.add_option("files", check->files, "Files")->required();
  verb.footer(
      "Exit code: 0 good, 1 bad.\n"
      "Example:\n"
      "  vagtctl check web-config /etc/vagt/web.yml");
}

}  // namespace

void add_check_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& group = *app.add_subcommand("check", "Check configurations, rules and metrics pages");
  group.require_subcommand(1)->fallthrough();
  add_config_check(group, invocation);
  add_rules_check(group, invocation);
  add_discovery_check(group, invocation);
  add_web_check(group, invocation);

  auto metrics = std::make_shared<CheckMetrics>();
  CLI::App& verb = add_verb(group, invocation, "metrics", "Check a metrics page on standard input",
                            metrics, &check_metrics);
  verb.add_flag("--extended", metrics->extended, "Print the number of series per metric");
  verb.footer(
      "Exit code: 0 good, 1 not parsed, 3 names against the conventions.\n"
      "Example:\n"
      "  curl -s http://gpu01:9500/metrics | vagtctl check metrics");
}

}  // namespace vagt::cli

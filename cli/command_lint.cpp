#include <fmt/core.h>

#include <memory>

#include "cli/command_line.h"
#include "cli/lint_rules.h"
#include "rules/lint/linter.h"

namespace vagt::cli {
namespace {

std::string codes_text() {
  std::string text = "Findings (a page on each in docs/lint):\n";
  for (const auto& [code, meaning] : rules::lint_codes())
    text += fmt::format("  {:<26} {}\n", code, meaning);
  return text;
}

}  // namespace

void add_lint_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& group = *app.add_subcommand("lint", "Find what loads but does not do what was meant");
  group.require_subcommand(1)->fallthrough();
  auto options = std::make_shared<LintRules>();
  CLI::App& verb = add_verb(group, invocation, "rules", "Rules that will not fire, or always will",
                            options, &lint_rules);
  verb.add_option("files", options->files, "Files")->required();
  verb.add_flag("--fatal", options->is_fatal, "Exit with 3 when there are findings");
  verb.add_option("--scrape-interval", options->scrape_interval, "Of the metrics used")
      ->capture_default_str();
  verb.add_option("--evaluation-interval", options->evaluation_interval,
                  "Of groups without an interval; unknown when left out");
  verb.add_option("--enable-feature", options->features,
                  "Features of PromQL to allow, comma-separated")
      ->allow_extra_args(false)
      ->delimiter(',');
  verb.add_option("--url", options->url,
                  "A vagtd or Prometheus to ask for types of metrics and whether there is data");
  verb.add_flag("--cost", options->shows_cost, "With --url: evaluate each rule once there");
  verb.footer(
      codes_text() +
      "A comment `# lint: allow CODE, CODE` within a rule or above it silences them there,\n"
      "above `groups:` for the whole file.\n"
      "Exit code: 0 linted, 1 a file does not load, 3 findings with --fatal.\n"
      "Examples:\n"
      "  vagtctl lint rules rules/*.yml\n"
      "  vagtctl lint rules --url http://watch:9090 --cost rules/*.yml\n"
      "  vagtctl -o json lint rules --fatal gpu.rules.yml");
}

}  // namespace vagt::cli

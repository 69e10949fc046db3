#include <memory>

#include "cli/command_line.h"
#include "cli/test_rules.h"

namespace vagt::cli {
namespace {

void add_features(CLI::App& verb, std::vector<std::string>& features) {
  verb.add_option("--enable-feature", features, "Features of PromQL to allow, comma-separated")
      ->allow_extra_args(false)
      ->delimiter(',');
}

}  // namespace

void add_test_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& group = *app.add_subcommand("test", "Run unit tests");
  group.require_subcommand(1)->fallthrough();
  auto test = std::make_shared<TestRules>();
  CLI::App& rules =
      add_verb(group, invocation, "rules", "Run unit tests of rules", test, &test_rules);
  rules.add_option("files", test->files, "Test files")->required();
  rules.add_option("--run", test->run, "Only tests whose name matches, once for each pattern")
      ->allow_extra_args(false);
  rules.add_flag("--ignore-unknown-fields", test->ignore_unknown_fields,
                 "Let keys pass that are not known");
  rules.add_flag("--diff", test->diff, "Show differences instead of expected and got");
  rules.add_flag("--debug", test->debug, "Say what is evaluated");
  rules.add_option("--junit", test->junit_file,
                   "Also write the results to this file, as JUnit's XML");
  add_features(rules, test->features);
  rules.footer(
      "Exit code: 0 all passed, 1 some failed.\n"
      "Examples:\n"
      "  vagtctl test rules gpu.test.yml\n"
      "  vagtctl test rules --run hot --diff gpu.test.yml");

  auto scripts = std::make_shared<TestPromql>();
  CLI::App& script_verb =
      add_verb(group, invocation, "promql", "Run test scripts of PromQL (load, eval, expect)",
               scripts, &test_promql);
  script_verb.add_option("files", scripts->files, "Scripts")->required();
  script_verb.footer(
      "Exit code: 0 all passed, 1 some failed, 2 a script cannot be read or understood.\n"
      "Example:\n"
      "  vagtctl test promql functions.test operators.test");

  CLI::App& promql = *app.add_subcommand("promql", "Work on expressions");
  promql.require_subcommand(1)->fallthrough();
  auto format = std::make_shared<PromqlFormat>();
  CLI::App& format_verb = add_verb(promql, invocation, "format",
                                   "Print an expression well indented", format, &promql_format);
  format_verb.add_option("expr", format->expr, "PromQL")->required();
  add_features(format_verb, format->features);
  format_verb.footer("Example:\n  vagtctl promql format 'sum(rate(a[5m]))by(job)'");
}

}  // namespace vagt::cli

#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "base/version.h"
#include "cli/command_line.h"
#include "cli/tool_config.h"

namespace vagt::cli {
namespace {

constexpr const char* kAbout =
    "The operator's tool of vagt: silences, test alerts, queries, checks of rules and "
    "configurations.\n"
    "It takes amtool's and promtool's command lines and works with Alertmanager and Prometheus "
    "too.";

constexpr const char* kExamples =
    "Defaults for flags are read from ~/.config/vagt/config.yml, ~/.config/amtool/config.yml,\n"
    "/etc/vagt/config.yml and /etc/amtool/config.yml (\"alertmanager.url: http://watch:9090\").\n"
    "Examples:\n"
    "  vagtctl alert query\n"
    "  vagtctl silence add host=gpu01 -d 2h -c 'changing fans'\n"
    "  vagtctl check config /etc/vagt/prometheus.yml\n"
    "  vagtctl query instant http://localhost:9090 'up == 0'\n"
    "Each verb has its own --help.";

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_option("--alertmanager.url", options.url, "vagtd or Alertmanager")->capture_default_str();
  app.add_option("-o,--output", options.output, "simple, extended or json")->capture_default_str();
  app.add_option("--timeout", options.timeout, "Of one command")->capture_default_str();
  app.add_option("--date.format", options.date_format,
                 "Of printed times, as Go writes 2006-01-02 15:04:05");
  app.add_option("--http.config.file", options.http_config_file,
                 "TLS, credentials and proxy, as http_config of alertmanager.yml");
  app.add_flag("-v,--verbose", options.is_verbose, "More output, where a verb has any");
  app.add_flag("--version-check,!--no-version-check", options.checks_version,
               "Accepted as amtool does; versions are not compared");
  app.set_version_flag("--version", version_text("vagtctl"));
}

// What went wrong; a word that is no verb is named, where CLI11 only says that one is missing.
std::string reason(const CLI::App& app, const CLI::ParseError& error) {
  const auto words = app.remaining(true);
  const bool wants_verb =
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
      std::string_view(error.what()).find("subcommand") != std::string::npos;
  if (!wants_verb || words.empty()) return error.what();
  if (words.front().starts_with('-')) return "unknown flag " + words.front();
  return "expected command but got \"" + words.front() + "\"";
}

int report(const CLI::App& app, const CLI::ParseError& error, Streams streams) {
  if (error.get_exit_code() == 0) {  // --help, --version
    app.exit(error, streams.out, streams.err);
    return kSuccess;
  }
  streams.err << "vagtctl: error: " << reason(app, error)
              << "\nRun with --help for more information.\n";
  return kFailure;
}

}  // namespace

int run_program(std::vector<std::string> arguments, const std::string& home, Streams streams) {
  Invocation invocation;
  auto defaults = load_tool_config(tool_config_files(home));
  if (!defaults) {
    streams.err << "vagtctl: error: " << defaults.error().message() << "\n";
    return kFailure;
  }
  invocation.options = std::move(*defaults);

  CLI::App app(kAbout, "vagtctl");
  app.footer("Each verb has its own --help, with examples.");  // groups inherit it
  app.require_subcommand(1);
  add_global_options(app, invocation.options);
  add_alert_commands(app, invocation);
  add_silence_commands(app, invocation);
  add_query_commands(app, invocation);
  add_check_commands(app, invocation);
  add_lint_commands(app, invocation);
  add_test_commands(app, invocation);
  add_rules_commands(app, invocation);
  add_config_commands(app, invocation);
  app.footer(kExamples);
  arguments = complete_arguments(std::move(arguments));
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return report(app, error, streams);
  }
  net::HttpClient http({.user_agent = "vagtctl/" + std::string(kVersion)});
  const SystemClock clock;
  Context context{streams.out, streams.err, streams.in, http, clock, invocation.options};
  return invocation.action(context);
}

}  // namespace vagt::cli

// The words and flags of every verb. CLI11 stays in the command_*.cpp files.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

// What the command line asks for; filled while CLI11 parses.
struct Invocation {
  GlobalOptions options;
  std::function<int(Context&)> action;
};

// A verb whose options live as long as the command line. `run` is called after parsing.
template <class Options>
CLI::App& add_verb(CLI::App& parent, Invocation& invocation, const std::string& name,
                   const std::string& description, std::shared_ptr<Options> options,
                   int (*run)(Context&, const Options&)) {
  CLI::App& verb = *parent.add_subcommand(name, description);
  verb.fallthrough();
  verb.callback([&invocation, options, run] {
    invocation.action = [options, run](Context& context) { return run(context, *options); };
  });
  return verb;
}

void add_alert_commands(CLI::App& app, Invocation& invocation);
void add_silence_commands(CLI::App& app, Invocation& invocation);
void add_config_commands(CLI::App& app, Invocation& invocation);
void add_check_commands(CLI::App& app, Invocation& invocation);
void add_lint_commands(CLI::App& app, Invocation& invocation);
void add_test_commands(CLI::App& app, Invocation& invocation);
void add_rules_commands(CLI::App& app, Invocation& invocation);
void add_query_commands(CLI::App& app, Invocation& invocation);

// Puts in what kingpin lets people leave out: `alert foo` is `alert query foo`, `help silence` is
// `silence --help`.
std::vector<std::string> complete_arguments(std::vector<std::string> arguments);

}  // namespace vagt::cli

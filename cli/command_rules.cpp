#include <memory>

#include "cli/command_line.h"
#include "cli/replay.h"

namespace vagt::cli {

void add_rules_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& group = *app.add_subcommand("rules", "Try rules on what has been");
  group.require_subcommand(1)->fallthrough();
  auto options = std::make_shared<ReplayRules>();
  CLI::App& verb = add_verb(group, invocation, "replay", "Run rules over a vagtd's stored history",
                            options, &replay_rules);
  verb.add_option("files", options->files, "Rule files; none: those that the server runs");
  verb.add_option("--url", options->url, "The vagtd that has the history")->capture_default_str();
  verb.add_option("--from", options->from, "Beginning: RFC 3339, seconds, or -30d before --to")
      ->capture_default_str();
  verb.add_option("--to", options->to, "End, now when left out");
  verb.add_option("--against", options->against,
                  "Also run these and print what differs: `running`, or a file");
  verb.add_option("--interval", options->interval,
                  "Of groups without one; the server's evaluation_interval when left out");
  verb.add_option("--alertmanager.config", options->alertmanager_config,
                  "An alertmanager.yml: who would have been told, by routes, groups, inhibition");
  verb.add_option("--silences", options->silences_file,
                  "With it: a file of silences, as `silence query -o json` prints them");
  verb.add_option("--format", options->format, "table, json, or score (alert intervals to grade)")
      ->capture_default_str();
  verb.add_option("--name", options->name, "Of the score's one entry")->capture_default_str();
  verb.add_option("--replay-timeout", options->timeout, "How long to wait for the server")
      ->capture_default_str();
  verb.add_option("--export-test", options->export_file,
                  "Write an alert's series and outcome to this file, for `test rules`");
  verb.add_option("--alert", options->export_alert,
                  "With it: the alert's name; the first that fired when left out");
  verb.footer(
      "Flaps: fired again within 30 minutes. Nights: fired from 22 to 7 o'clock here (TZ).\n"
      "-v lists every alert.\n"
      "Exit code: 0 replayed, 1 not.\n"
      "Examples:\n"
      "  vagtctl rules replay gpu.rules.yml --from -30d --url http://watch:9090\n"
      "  vagtctl rules replay new.rules.yml --against running --alertmanager.config "
      "alertmanager.yml\n"
      "  vagtctl rules replay -v --from 2026-11-01T00:00:00Z --to 2026-11-02T00:00:00Z "
      "gpu.rules.yml\n"
      "  vagtctl rules replay gpu.rules.yml --export-test psu.test.yml --alert PSUFailed\n"
      "  vagtctl -o json rules replay gpu.rules.yml");
}

}  // namespace vagt::cli

#include <memory>

#include "cli/alerts.h"
#include "cli/command_line.h"

namespace vagt::cli {

void add_alert_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& alert = *app.add_subcommand("alert", "Add or query alerts");
  alert.require_subcommand(1)->fallthrough();

  auto query = std::make_shared<AlertQuery>();
  CLI::App& query_verb =
      add_verb(alert, invocation, "query", "Show alerts; the default verb", query, &alert_query);
  query_verb.add_option(
      "matchers", query->matchers,
      "name=value, name!=value, name=~regex or name!~regex; a first word alone is "
      "the alertname");
  query_verb.add_flag("-i,--inhibited", query->inhibited, "Show inhibited alerts");
  query_verb.add_flag("-s,--silenced", query->silenced, "Show silenced alerts");
  query_verb.add_flag("-a,--active", query->active,
                      "Show active alerts (shown when no other is asked for)");
  query_verb.add_flag("-u,--unprocessed", query->unprocessed, "Show unprocessed alerts");
  query->receiver = invocation.options.receiver;
  query_verb.add_option("-r,--receiver", query->receiver, "Receivers, as a regular expression");
  query_verb.footer(
      "Examples:\n"
      "  vagtctl alert query\n"
      "  vagtctl alert query GpuHot host=gpu01\n"
      "  vagtctl -o extended alert query 'alertname=~Gpu.*' --silenced --inhibited");

  auto add = std::make_shared<AlertAdd>();
  CLI::App& add_cmd = add_verb(alert, invocation, "add",
                               "Send an alert, to test routes and receivers", add, &alert_add);
  add_cmd.add_option("labels", add->labels, "name=value; a first word alone is the alertname");
  add_cmd.add_option("--annotation", add->annotations, "name=value, once for each")
      ->allow_extra_args(false);
  add_cmd.add_option("--generator-url", add->generator_url, "Where the alert comes from");
  add_cmd.add_option("--start", add->start, "RFC 3339; now when left out");
  add_cmd.add_option("--end", add->end, "RFC 3339; after resolve_timeout when left out");
  add_cmd.footer(
      "Examples:\n"
      "  vagtctl alert add TestPage severity=critical host=gpu01 --annotation=summary='a test'\n"
      "  vagtctl alert add alertname=TestPage --end=2026-12-01T12:00:00Z");
}

}  // namespace vagt::cli

#include <memory>

#include "cli/check_alertmanager.h"
#include "cli/command_line.h"
#include "cli/routes.h"
#include "cli/server_status.h"
#include "cli/template_render.h"

namespace vagt::cli {
namespace {

void add_routes(CLI::App& config, Invocation& invocation) {
  CLI::App& routes =
      *config.add_subcommand("routes", "The routing tree, from a file or the server");
  routes.require_subcommand(1)->fallthrough();
  // Both verbs take --config.file on either side of their name.
  auto show = std::make_shared<RoutesShow>();
  auto test = std::make_shared<RoutesTest>();
  routes.add_option_function<std::string>(
      "--config.file",
      [show, test](const std::string& file) {
        show->config_file = file;
        test->config_file = file;
      },
      "An alertmanager.yml; the server's own configuration when left out");

  CLI::App& show_verb =
      add_verb(routes, invocation, "show", "Print the tree; the default verb", show, &routes_show);
  show_verb.footer("Example:\n  vagtctl config routes show --config.file=alertmanager.yml");

  CLI::App& test_verb =
      add_verb(routes, invocation, "test", "Which receivers an alert with these labels goes to",
               test, &routes_test);
  test_verb.add_option("labels", test->labels, "name=value");
  test_verb.add_option("--verify.receivers", test->expected_receivers,
                       "Exit 1 unless the receivers are these, comma-separated, in order");
  test_verb.add_flag("--tree", test->tree, "Print the matching branches too");
  test_verb.footer(
      "Example:\n"
      "  vagtctl config routes test --config.file=alertmanager.yml --verify.receivers=oncall "
      "severity=critical team=gpu");
}

}  // namespace

void add_config_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& config =
      *app.add_subcommand("config", "Show the server's notification configuration and its routes");
  config.require_subcommand(1)->fallthrough();
  CLI::App& show = add_verb(config, invocation, "show", "Print it; the default verb",
                            std::make_shared<NoOptions>(), &config_show);
  show.footer("Examples:\n  vagtctl config show\n  vagtctl -o extended config show");
  add_routes(config, invocation);

  CLI::App& cluster = *app.add_subcommand("cluster", "The server's cluster state");
  cluster.require_subcommand(1)->fallthrough();
  add_verb(cluster, invocation, "show", "Print it; the default verb", std::make_shared<NoOptions>(),
           &cluster_show)
      .footer("Example:\n  vagtctl cluster show");

  auto check = std::make_shared<CheckAlertmanager>();
  CLI::App& check_verb =
      add_verb(app, invocation, "check-config", "Check alertmanager.yml files and their templates",
               check, &check_alertmanager);
  check_verb.add_option("files", check->files, "Files; standard input when left out");
  check_verb.footer(
      "With -v also what loads but would not page as meant.\nExample:\n  vagtctl check-config "
      "/etc/vagt/alertmanager.yml");

  CLI::App& group = *app.add_subcommand("template", "Try notification templates");
  group.require_subcommand(1)->fallthrough();
  auto render = std::make_shared<TemplateRender>();
  CLI::App& render_verb = add_verb(group, invocation, "render", "Print what a template gives",
                                   render, &template_render);
  render_verb.add_option("--template.glob", render->globs, "Template files, once for each pattern")
      ->allow_extra_args(false)
      ->required();
  render_verb.add_option("--template.text", render->text, "The text to render")->required();
  render_verb.add_option("--template.type", render->type, "text or html")->capture_default_str();
  render_verb.add_option("--template.data", render->data_file,
                         "Alerts, as the JSON a webhook is sent; made-up ones when left out");
  render_verb.footer(
      "Example:\n"
      "  vagtctl template render --template.glob='/etc/vagt/*.tmpl' --template.text='{{ template "
      "\"slack.title\" . }}'");
}

}  // namespace vagt::cli

#include <memory>

#include "cli/command_line.h"
#include "cli/silences.h"

namespace vagt::cli {
namespace {

void add_times(CLI::App& verb, SilenceTimes& times) {
  verb.add_option("-d,--duration", times.duration, "How long, as in 2h or 1d12h")
      ->capture_default_str();
  verb.add_option("--start", times.start, "RFC 3339; now when left out");
  verb.add_option("--end", times.end, "RFC 3339; wins over --duration");
}

void add_create_verb(CLI::App& silence, Invocation& invocation) {
  auto add = std::make_shared<SilenceAdd>();
  CLI::App& verb =
      add_verb(silence, invocation, "add", "Silence the alerts that match", add, &silence_add);
  verb.add_option("matchers", add->matchers,
                  "name=value, name!=value, name=~regex or name!~regex; a first word alone is the "
                  "alertname");
  add_times(verb, add->times);
  verb.add_option("-a,--author", add->author, "Who silences; the user's name when left out");
  verb.add_option("-c,--comment", add->comment, "Why");
  verb.add_option("--require-comment", invocation.options.requires_comment,
                  "Whether a comment must be given");
  verb.footer(
      "Prints the silence's id.\n"
      "Examples:\n"
      "  vagtctl silence add host=gpu01 -d 2h -c 'changing fans'\n"
      "  vagtctl silence add 'alertname=~Gpu.*' rack=r7 --end=2026-12-01T12:00:00Z -c maintenance");
}

void add_query_verb(CLI::App& silence, Invocation& invocation) {
  auto query = std::make_shared<SilenceQuery>();
  CLI::App& verb = add_verb(silence, invocation, "query", "Show silences; the default verb", query,
                            &silence_query);
  verb.add_option("matchers", query->matchers, "Silences that have these matchers");
  verb.add_flag("--expired", query->expired,
                "Show expired silences instead of active and pending ones");
  verb.add_flag("-q,--quiet", query->quiet, "Print only the ids");
  verb.add_option("--created-by", query->created_by, "Silences of this author");
  verb.add_option("--within", query->within,
                  "Those that end, or with --expired ended, within this time");
  verb.footer(
      "Examples:\n"
      "  vagtctl silence query host=gpu01\n"
      "  vagtctl silence query --within 8h\n"
      "  vagtctl silence expire $(vagtctl silence query -q --created-by=kit)");
}

void add_update_verb(CLI::App& silence, Invocation& invocation) {
  auto update = std::make_shared<SilenceUpdate>();
  CLI::App& verb = add_verb(silence, invocation, "update", "Change end or comment of silences",
                            update, &silence_update);
  verb.add_option("ids", update->ids, "Silence ids");
  add_times(verb, update->times);
  verb.add_option("-c,--comment", update->comment, "Why");
  verb.add_flag("-q,--quiet", update->quiet, "Print only the ids");
  verb.footer(
      "Example:\n  vagtctl silence update --duration=4h 759eb57a-b0ee-4044-ab77-1e9f5c1553c5");
}

struct ExpireIds {
  std::vector<std::string> ids;
};
int run_expire(Context& context, const ExpireIds& expire) {
  return silence_expire(context, expire.ids);
}

struct ImportFlags {
  SilenceImport import;
  int workers = 8;  // amtool's; one connection is quick enough
};
int run_import(Context& context, const ImportFlags& flags) {
  return silence_import(context, flags.import);
}

}  // namespace

void add_silence_commands(CLI::App& app, Invocation& invocation) {
  CLI::App& silence = *app.add_subcommand("silence", "Add, show, change or expire silences");
  silence.require_subcommand(1)->fallthrough();
  add_create_verb(silence, invocation);
  add_query_verb(silence, invocation);
  add_update_verb(silence, invocation);

  auto expire = std::make_shared<ExpireIds>();
  CLI::App& expire_verb =
      add_verb(silence, invocation, "expire", "End silences now", expire, &run_expire);
  expire_verb.add_option("ids", expire->ids, "Silence ids");
  expire_verb.footer("Example:\n  vagtctl silence expire 759eb57a-b0ee-4044-ab77-1e9f5c1553c5");

  auto import = std::make_shared<ImportFlags>();
  CLI::App& import_verb =
      add_verb(silence, invocation, "import", "Add silences from a JSON file", import, &run_import);
  import_verb.add_option("file", import->import.file,
                         "Output of `silence query -o json`; standard input when left out");
  import_verb.add_flag("-f,--force", import->import.force,
                       "Always add new ones, whatever ids they have");
  import_verb.add_option("-w,--worker", import->workers, "Accepted as amtool does, without effect");
  import_verb.footer(
      "Examples:\n"
      "  vagtctl -o json silence query > silences.json\n"
      "  vagtctl silence import silences.json");
}

}  // namespace vagt::cli

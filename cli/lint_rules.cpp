#include "cli/lint_rules.h"

#include <fmt/core.h>

#include <fstream>
#include <iterator>
#include <ostream>

#include "base/json_writer.h"
#include "cli/check_rules.h"
#include "cli/lint_online.h"
#include "cli/table.h"
#include "rules/lint/linter.h"
#include "rules/rule_file.h"

namespace vagt::cli {
namespace {

using rules::LintNote;

void print_text(std::ostream& out, const LintNote& note) {
  out << fmt::format("{}:{}:{}: {}: {} [{}]\n", note.file, note.where.line, note.where.column,
                     note.rule, note.text, note.code);
  if (!note.excerpt.empty()) out << "    here:   " << note.excerpt << "\n";
  if (!note.better.empty()) out << "    better: " << note.better << "\n";
}

std::string json_text(const std::vector<LintNote>& notes) {
  std::string text;
  base::JsonWriter json(text);
  const auto member = [&](std::string_view name, std::string_view value) {
    json.key(name);
    json.string(value);
  };
  json.begin_array();
  for (const LintNote& note : notes) {
    json.begin_object();
    member("code", note.code);
    member("file", note.file);
    json.key("line");
    json.integer(note.where.line);
    json.key("column");
    json.integer(note.where.column);
    member("group", note.group);
    member("rule", note.rule);
    member("expression", note.excerpt);
    member("text", note.text);
    member("better", note.better);
    json.end_object();
  }
  json.end_array();
  return text;
}

// Of a file that was just read; its comments.
std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<rules::LintSettings> settings_of(const LintRules& options) {
  rules::LintSettings settings;
  VAGT_TRY(settings.scrape_interval,
           parse_any_duration(options.scrape_interval).at("--scrape-interval"));
  if (!options.evaluation_interval.empty()) {
    VAGT_TRY(settings.evaluation_interval,
             parse_any_duration(options.evaluation_interval).at("--evaluation-interval"));
  }
  return settings;
}

struct Linted {
  std::vector<LintNote> notes;
  std::vector<RuleCost> costs;
  bool is_broken = false;  // a file does not load
};

Status lint_file(Context& context, const LintRules& options, const rules::LintSettings& settings,
                 const std::string& path, Linted& out) {
  rules::RuleFileOptions file_options;
  file_options.parse = parse_options(options.features);
  const auto parsed = rules::read_rule_file(path, file_options);
  for (const Status& error : parsed.errors) context.err << error.message() << "\n";
  if (!parsed.errors.empty()) {
    out.is_broken = true;
    return {};
  }
  for (LintNote& note : rules::lint_rule_file(parsed.file, text_of(path), settings))
    out.notes.push_back(std::move(note));
  if (options.url.empty()) return {};
  VAGT_TRY(auto missing, notes_on_data(context, options.url, parsed.file));
  for (LintNote& note : missing) out.notes.push_back(std::move(note));
  if (!options.shows_cost) return {};
  VAGT_TRY(auto costs, rule_costs(context, options.url, parsed.file));
  for (RuleCost& cost : costs) out.costs.push_back(std::move(cost));
  return {};
}

void print_costs(std::ostream& out, const std::vector<RuleCost>& costs) {
  Table table({"Group", "Rule", "Samples read", "Milliseconds"});
  for (const RuleCost& cost : costs) {
    table.add({cost.group, cost.rule, fmt::format("{:.0f}", cost.samples),
               fmt::format("{:.2f}", cost.seconds * 1000)});
  }
  out << table.text();
}

}  // namespace

int lint_rules(Context& context, const LintRules& options) {
  const auto output = context.output();
  if (!output) return context.fail(output.error());
  if (options.shows_cost && options.url.empty()) return context.fail("--cost needs --url");
  auto settings = settings_of(options);
  if (!settings) return context.fail(settings.error());
  if (!options.url.empty()) {
    auto types = metric_types(context, options.url);
    if (!types) return context.fail(types.error());
    settings->catalog = rules::MetricCatalog(std::move(*types));
  }
  Linted linted;
  for (const std::string& path : options.files) {
    const Status status = lint_file(context, options, *settings, path, linted);
    if (!status.ok()) return context.fail(status);
  }
  if (*output == Output::Json) {
    context.out << json_text(linted.notes) << "\n";
  } else {
    for (const LintNote& note : linted.notes) print_text(context.out, note);
    if (options.shows_cost) print_costs(context.out, linted.costs);
  }
  if (linted.is_broken) return kFailure;
  return options.is_fatal && !linted.notes.empty() ? kLintFailure : kSuccess;
}

}  // namespace vagt::cli

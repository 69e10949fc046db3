#include "cli/alerts.h"

#include <algorithm>
#include <ostream>

#include "cli/alertmanager_api.h"
#include "cli/matcher_arguments.h"
#include "cli/table.h"

namespace vagt::cli {
namespace {

std::string get(const TextMap& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? "" : found->second;
}

// `a="b" c="d"`
std::string pairs_text(const TextMap& map) {
  std::string out;
  for (const auto& [name, value] : map) {
    out += (out.empty() ? "" : " ") + name + "=\"" + value + "\"";
  }
  return out;
}

std::string simple_table(const Context& context, const std::vector<AlertView>& alerts) {
  Table table({"Alertname", "Starts At", "Summary", "State"});
  for (const AlertView& alert : alerts) {
    table.add({get(alert.labels, "alertname"), context.date(alert.starts_at),
               get(alert.annotations, "summary"), alert.state});
  }
  return table.text();
}

std::string extended_table(const Context& context, const std::vector<AlertView>& alerts) {
  Table table({"Labels", "Annotations", "Starts At", "Ends At", "Generator URL", "State"});
  for (const AlertView& alert : alerts) {
    table.add({pairs_text(alert.labels), pairs_text(alert.annotations),
               context.date(alert.starts_at), context.date(alert.ends_at), alert.generator_url,
               alert.state});
  }
  return table.text();
}

Params query_params(const AlertQuery& query) {
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  const bool is_any = query.silenced || query.inhibited || query.active || query.unprocessed;
  Params params = {{"active", flag(query.active || !is_any)},
                   {"inhibited", flag(query.inhibited)},
                   {"silenced", flag(query.silenced)},
                   {"unprocessed", flag(query.unprocessed)}};
  if (!query.receiver.empty()) params.emplace_back("receiver", query.receiver);
  for (const std::string& matcher : with_alertname(query.matchers)) {
    params.emplace_back("filter", matcher);
  }
  return params;
}

// Equality matchers taken as what they say.
Result<TextMap> parse_pairs(const std::vector<std::string>& arguments, const std::string& what) {
  TextMap out;
  for (const std::string& argument : arguments) {
    VAGT_TRY(const auto matchers, parse_matcher_arguments({argument}));
    const Matcher& matcher = matchers.front();
    if (matcher.op() != MatchOp::Equal) {
      return Status::invalid(what + " must be specified as key=value pairs");
    }
    out[matcher.name()] = matcher.value();
  }
  return out;
}

Result<AlertPost> make_alert(const AlertAdd& add, Timestamp now) {
  AlertPost alert;
  VAGT_TRY(alert.labels, parse_pairs(with_alertname(add.labels), "labels"));
  VAGT_TRY(alert.annotations, parse_pairs(add.annotations, "annotations"));
  if (!add.start.empty()) {
    VAGT_TRY(alert.starts_at, parse_rfc3339(add.start));
  }
  if (!add.end.empty()) {
    VAGT_TRY(alert.ends_at, parse_rfc3339(add.end));
    // The server would take the end for the start too.
    if (add.start.empty() && now < alert.ends_at) alert.starts_at = now;
  }
  alert.generator_url = add.generator_url;
  return alert;
}

}  // namespace

int alert_query(Context& context, const AlertQuery& query) {
  const auto output = context.output();
  if (!output) return context.fail(output.error());
  auto api = AlertmanagerApi::connect(context);
  if (!api) return context.fail(api.error());
  std::string json;
  auto alerts = api->alerts(query_params(query), &json);
  if (!alerts) return context.fail(alerts.error());
  std::stable_sort(alerts->begin(), alerts->end(), [](const AlertView& a, const AlertView& b) {
    return a.starts_at < b.starts_at;
  });
  switch (*output) {
    case Output::Simple:
      context.out << simple_table(context, *alerts);
      break;
    case Output::Extended:
      context.out << extended_table(context, *alerts);
      break;
    case Output::Json:
      context.out << json << "\n";
      break;
  }
  return kSuccess;
}

int alert_add(Context& context, const AlertAdd& add) {
  const auto alert = make_alert(add, context.clock.now());
  if (!alert) return context.fail(alert.error());
  auto api = AlertmanagerApi::connect(context);
  if (!api) return context.fail(api.error());
  const Status status = api->post_alert(*alert);
  return status.ok() ? kSuccess : context.fail(status);
}

}  // namespace vagt::cli

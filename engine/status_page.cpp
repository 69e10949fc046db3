#include "engine/status_page.h"

#include <fmt/core.h>

#include "base/number_text.h"
#include "base/version.h"
#include "engine/html_page.h"
#include "template/escape_text.h"

namespace vagt::engine {
namespace {

// The page is for a look; /api/v2/alerts has them all.
constexpr size_t kMostHeldAlerts = 200;

std::string escape(std::string_view text) { return tmpl::escape_html(text); }

// The rule's name, leading to what its expression says now.
std::string rule_link(const rules::RuleView& rule) {
  return fmt::format("<a href=\"graph?g0.expr={}\">{}</a>", tmpl::escape_query(rule.query),
                     escape(rule.name));
}

void add_alerts(std::string& out, const StatusPageContext& context) {
  Table table(out, "Alerts of the rules", {"alert", "state", "since", "labels", "summary"},
              "None: nothing is pending or firing.");
  for (const rules::GroupView& group : context.rules.view()) {
    for (const rules::RuleView& rule : group.rules) {
      for (const rules::AlertView& alert : rule.alerts) {
        std::string summary;
        if (alert.annotations != nullptr) {
          const auto it = alert.annotations->find("summary");
          if (it != alert.annotations->end()) summary = it->second;
        }
        const bool firing = alert.state == AlertState::Firing;
        table.row(
            {rule_link(rule), coloured(firing ? "bad" : "warn", alert_state_name(alert.state)),
             format_rfc3339(alert.active_at), escape(alert.labels.to_string()), escape(summary)});
      }
    }
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// Why nobody is told of it now; "active" when somebody is.
std::string told_state(const notify::AlertView& alert) {
  if (alert.status.state == "active") return coloured("bad", "active");
  std::string why;
  if (!alert.status.silenced_by.empty()) why += ", silenced";
  if (!alert.status.inhibited_by.empty()) why += ", inhibited";
  if (!alert.status.muted_by.empty()) why += ", muted by " + joined(alert.status.muted_by);
  return coloured("warn", alert.status.state + why);
}

// What the built-in Alertmanager holds, whether a rule of this server fired or somebody posted it.
void add_held_alerts(std::string& out, const StatusPageContext& context) {
  Table table(out, "Alerts held for the receivers",
              {"alert", "state", "since", "receivers", "labels", "summary"}, "None.");
  std::vector<notify::AlertView> alerts = context.notify.alerts({});
  const size_t more = alerts.size() > kMostHeldAlerts ? alerts.size() - kMostHeldAlerts : 0;
  alerts.resize(alerts.size() - more);
  for (const notify::AlertView& view : alerts) {
    const notify::NotifyAlert& alert = *view.alert;
    const auto summary = alert.annotations.find("summary");
    table.row({escape(alert.labels.get(kAlertName)), told_state(view),
               format_rfc3339(alert.starts_at), escape(joined(view.receivers)),
               escape(alert.labels.to_string()),
               summary == alert.annotations.end() ? "" : escape(summary->second)});
  }
  if (more > 0) table.row({fmt::format("and {} more", more), "", "", "", "", ""});
}

void add_targets(std::string& out, const StatusPageContext& context) {
  Table table(out, "Targets", {"job", "address", "state", "last scrape", "samples", "error"},
              "None are configured.");
  for (const scrape::TargetView& target : context.scrape.active_targets()) {
    const bool down = target.health == scrape::Health::Down;
    std::string notes = escape(target.last_error);
    for (const std::string& warning : target.warnings)
      notes += (notes.empty() ? "" : "; ") + escape(warning);
    table.row({escape(target.pool), escape(target.scrape_url),
               coloured(down                                  ? "bad"
                        : target.health == scrape::Health::Up ? "ok"
                                                              : "warn",
                        health_name(target.health)),
               target.last_scrape == Timestamp{} ? "never" : format_rfc3339(target.last_scrape),
               fmt::format("{}", target.samples_kept), notes});
  }
  for (const scrape::PoolView& pool : context.scrape.pools())
    for (const std::string& error : pool.errors)
      table.row({escape(pool.name), "", coloured("bad", "error"), "", "", escape(error)});
}

void add_rules(std::string& out, const StatusPageContext& context) {
  Table table(out, "Rules", {"group", "rule", "health", "last evaluation", "seconds", "error"},
              "None are configured.");
  for (const rules::GroupView& group : context.rules.view())
    for (const rules::RuleView& rule : group.rules)
      table.row({escape(group.name), rule_link(rule),
                 coloured(rule.health == rules::RuleHealth::Bad       ? "bad"
                          : rule.health == rules::RuleHealth::Unknown ? "warn"
                                                                      : "ok",
                          rules::rule_health_name(rule.health)),
                 rule.last_evaluation ? format_rfc3339(*rule.last_evaluation) : "never",
                 fmt::format("{:.6f}", rule.evaluation_seconds), escape(rule.last_error)});
}

void add_deliveries(std::string& out, const StatusPageContext& context) {
  Table table(out, "Last deliveries", {"time", "receiver", "by", "result", "detail"}, "None yet.");
  size_t shown = 0;
  for (const notify::DeliveryView& delivery : context.notify.recent_deliveries()) {
    if (++shown > 50) break;
    std::string detail = escape(delivery.detail);
    if (delivery.sent && delivery.failed_attempts > 0)
      detail = fmt::format("after {} failed attempts", delivery.failed_attempts);
    for (const std::string& problem : delivery.problems)
      detail += "<br>" + coloured("bad", problem);
    table.row({format_rfc3339(delivery.at), escape(delivery.receiver), escape(delivery.integration),
               delivery.sent ? coloured("ok", "sent") : coloured("bad", "not sent"), detail});
  }
}

void add_silences(std::string& out, const StatusPageContext& context) {
  const Timestamp now = context.clock.now();
  Table table(out, "Silences", {"state", "matchers", "ends", "by", "comment"}, "None.");
  for (const notify::Silence& silence : context.notify.silences()) {
    if (silence.state(now) == notify::SilenceState::Expired) continue;
    std::string matchers;
    for (const auto& set : silence.matcher_sets) {
      if (!matchers.empty()) matchers += " or ";
      std::string one;
      for (const Matcher& matcher : set) one += (one.empty() ? "" : ", ") + matcher.to_string();
      matchers += "{" + one + "}";
    }
    table.row({escape(notify::silence_state_name(silence.state(now))), escape(matchers),
               format_rfc3339(silence.ends_at), escape(silence.created_by),
               escape(silence.comment)});
  }
}

std::string render(const StatusPageContext& context) {
  std::string out = page_head(context.flags.page_title, 15);
  out += notice_box("Nobody will be paged:", context.nobody_paged());
  out += notice_box("The store is degraded:", context.store.stats().degraded);
  out += notice_box("The last reload failed; the old configuration is in force:",
                    context.reload().error);
  add_alerts(out, context);
  add_held_alerts(out, context);
  add_targets(out, context);
  add_rules(out, context);
  add_silences(out, context);
  add_deliveries(out, context);
  const tsdb::StoreStats stats = context.store.stats();
  out += fmt::format(
      "<h2>About</h2><p>vagtd {}, up since {}. {} series in memory, {} bytes on disk. <a "
      "href=\"graph\">query</a>, <a href=\"metrics\">metrics</a>, "
      "<a href=\"api/v1/targets\">targets</a>, <a href=\"api/v1/rules\">rules</a>, "
      "<a href=\"api/v2/alerts\">alerts</a></p></body></html>\n",
      kVersion, format_rfc3339(context.started), stats.head_series, stats.disk_bytes);
  return out;
}

}  // namespace

void add_status_page(api::Router& router, const StatusPageContext& context) {
  router.add({"GET", "HEAD"}, "/", api::Lane::Control,
             [&context](const net::ServerRequest&, const api::PathArgs&) {
               return html_response(200, render(context));
             });
}

}  // namespace vagt::engine

#include "cli/replay_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "base/json_writer.h"
#include "cli/table.h"
#include "rules/rule_output.h"

namespace vagt::cli {
namespace {

using rules::Replay;
using rules::ReplayedAlert;
using rules::ReplayedRule;

constexpr Duration kFlap = std::chrono::minutes(30);

bool is_night(Timestamp t) {
  const std::time_t seconds = to_millis(t) / 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local.tm_hour >= 22 || local.tm_hour < 7;
}

Duration length(const ReplayedAlert& alert, const Replay& replay) {
  return alert.resolved_at.value_or(replay.to) - alert.fired_at;
}

// "1d3h", "4m30s": two units are enough to judge by.
std::string rough(Duration d) {
  const bool long_one = d >= std::chrono::hours(24), middle = d >= std::chrono::hours(1);
  const Duration unit = long_one ? Duration(std::chrono::hours(1))
                        : middle ? Duration(std::chrono::minutes(1))
                                 : Duration(std::chrono::seconds(1));
  return format_duration(d / unit * unit);
}

std::string severity_of(const ReplayedRule& rule) {
  const auto found = rule.labels.find("severity");
  return found == rule.labels.end() ? "" : found->second;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

AlertSummary summary_of(const ReplayedRule& rule, const Replay& replay) {
  AlertSummary summary;
  summary.name = rule.name, summary.severity = severity_of(rule);
  std::map<Labels, Timestamp> ended;
  for (const ReplayedAlert& alert : rule.alerts) {
    ++summary.fired;
    summary.total += length(alert, replay);
    summary.longest = std::max(summary.longest, length(alert, replay));
    summary.nights += is_night(alert.fired_at) ? 1 : 0;
    const auto before = ended.find(alert.labels);
    if (before != ended.end() && alert.fired_at - before->second <= kFlap) ++summary.flaps;
    ended[alert.labels] = alert.resolved_at.value_or(replay.to);
  }
  return summary;
}

// By name: how often and how long, and which label sets.
struct NameTotals {
  size_t fired = 0;
  Duration total{};
  std::set<Labels> labels;
};

std::map<std::string, NameTotals> totals_of(const Replay& replay) {
  std::map<std::string, NameTotals> totals;
  for (const ReplayedRule& rule : replay.rules) {
    if (!rule.alerting) continue;
    NameTotals& sum = totals[rule.name];
    for (const ReplayedAlert& alert : rule.alerts) {
      ++sum.fired;
      sum.total += length(alert, replay);
      sum.labels.insert(alert.labels);
    }
  }
  return totals;
}

std::string signed_rough(Duration d) {
  return d < Duration{} ? "-" + rough(-d) : d > Duration{} ? "+" + rough(d) : "0s";
}

// The alerts of `one` whose labels never fired in `other`.
std::string only_in(const Context& context, const Replay& one,
                    const std::map<std::string, NameTotals>& other, std::string_view title) {
  constexpr size_t kMost = 50;
  std::string text;
  size_t left_out = 0, shown = 0;
  for (const ReplayedRule& rule : one.rules) {
    const auto found = other.find(rule.name);
    for (const ReplayedAlert& alert : rule.alerts) {
      if (found != other.end() && found->second.labels.count(alert.labels) > 0) continue;
      if (++shown > kMost) {
        ++left_out;
        continue;
      }
      text += fmt::format("  {}  {:>8}  {}\n", context.date(alert.fired_at),
                          rough(length(alert, one)), alert.labels.to_string());
    }
  }
  if (text.empty()) return "";
  if (left_out > 0) text += fmt::format("  and {} more\n", left_out);
  return fmt::format("\n{}:\n{}", title, text);
}

}  // namespace

std::vector<AlertSummary> summarize(const Replay& replay) {
  std::vector<AlertSummary> summaries;
  for (const ReplayedRule& rule : replay.rules) {
    if (rule.alerting) summaries.push_back(summary_of(rule, replay));
  }
  return summaries;
}

std::vector<notify::RehearsedAlert> alerts_to_rehearse(const Replay& replay) {
  std::vector<notify::RehearsedAlert> alerts;
  for (const ReplayedRule& rule : replay.rules) {
    for (const ReplayedAlert& alert : rule.alerts) {
      alerts.push_back({rules::with_external_labels(alert.labels, replay.external_labels),
                        alert.fired_at, alert.resolved_at});
    }
  }
  return alerts;
}

void add_messages(const Replay& replay, const std::vector<notify::RehearsedMessage>& messages,
                  std::vector<AlertSummary>& summaries) {
  std::vector<size_t> summary_of_alert;
  size_t next = 0;
  for (const ReplayedRule& rule : replay.rules) {
    if (!rule.alerting) continue;
    summary_of_alert.insert(summary_of_alert.end(), rule.alerts.size(), next++);
  }
  std::vector<bool> told(summary_of_alert.size(), false);
  for (const notify::RehearsedMessage& message : messages) {
    std::set<size_t> named;
    for (const size_t alert : message.firing) {
      told[alert] = true;
      named.insert(summary_of_alert[alert]);
    }
    for (const size_t i : named) {
      std::vector<std::string>& receivers = summaries[i].receivers;
      const auto place = std::lower_bound(receivers.begin(), receivers.end(), message.receiver);
      if (place == receivers.end() || *place != message.receiver)
        receivers.insert(place, message.receiver);
      if (message.reason != notify::NotifyReason::First) continue;
      ++summaries[i].pages;
      summaries[i].night_pages += is_night(message.at) ? 1 : 0;
    }
  }
  for (size_t i = 0; i < told.size(); ++i) {
    if (!told[i]) ++summaries[summary_of_alert[i]].untold;
  }
}

std::string summary_table(const std::vector<AlertSummary>& summaries, bool with_receivers) {
  std::vector<std::string> header{"Alert",   "Severity", "Fired", "Total",
                                  "Longest", "Flaps",    "Nights"};
  if (with_receivers) header.insert(header.end(), {"Pages", "Night pages", "Untold", "Receivers"});
  Table table(std::move(header));
  size_t silent = 0;
  for (const AlertSummary& s : summaries) {
    if (s.fired == 0) {
      ++silent;
      continue;
    }
    std::vector<std::string> row{s.name,
                                 s.severity,
                                 std::to_string(s.fired),
                                 rough(s.total),
                                 rough(s.longest),
                                 std::to_string(s.flaps),
                                 std::to_string(s.nights)};
    if (with_receivers) {
      row.insert(row.end(), {std::to_string(s.pages), std::to_string(s.night_pages),
                             std::to_string(s.untold), joined(s.receivers)});
    }
    table.add(std::move(row));
  }
  return table.text() + fmt::format("{} of {} alerts never fired.\n", silent, summaries.size());
}

std::string alert_list(const Context& context, const Replay& replay) {
  std::string text;
  for (const ReplayedRule& rule : replay.rules) {
    for (const ReplayedAlert& alert : rule.alerts) {
      text +=
          fmt::format("{}  {:>8}{} {}", context.date(alert.fired_at), rough(length(alert, replay)),
                      alert.resolved_at ? " " : "+", alert.labels.to_string());
      const auto summary = alert.annotations.find("summary");
      text += summary == alert.annotations.end() ? "\n" : "  " + summary->second + "\n";
    }
  }
  return text;
}

std::string failure_list(const Replay& replay) {
  std::string text;
  for (const ReplayedRule& rule : replay.rules) {
    if (rule.failures == 0) continue;
    text += fmt::format("{}: group {}, {}: {} of {} evaluations failed: {}\n", rule.file,
                        quote(rule.group), quote(rule.name), rule.failures, rule.evaluations,
                        rule.last_error);
  }
  return text;
}

std::string difference(const Context& context, const Replay& replay, const Replay& other) {
  const auto here = totals_of(replay), there = totals_of(other);
  std::set<std::string> names;
  for (const auto& [name, totals] : here) names.insert(name);
  for (const auto& [name, totals] : there) names.insert(name);
  Table table({"Alert", "Fired", "Against", "Total", "Against", "Difference"});
  size_t rows = 0;
  const NameTotals none;
  for (const std::string& name : names) {
    const NameTotals& a = here.count(name) > 0 ? here.at(name) : none;
    const NameTotals& b = there.count(name) > 0 ? there.at(name) : none;
    if (a.fired == b.fired && a.total == b.total && a.labels == b.labels) continue;
    table.add({name, std::to_string(a.fired), std::to_string(b.fired), rough(a.total),
               rough(b.total), signed_rough(a.total - b.total)});
    ++rows;
  }
  if (rows == 0) return "No alert differs.\n";
  return table.text() + only_in(context, replay, there, "Only with these rules") +
         only_in(context, other, here, "Only with the others");
}

std::string score_json(const Replay& replay, const std::string& name) {
  std::string text;
  base::JsonWriter w(text);
  w.begin_object().key(name).begin_array();
  for (const ReplayedRule& rule : replay.rules) {
    std::string about = rule.query;
    for (const auto& [key, annotation] : rule.annotations) about += " " + annotation;
    for (const ReplayedAlert& alert : rule.alerts) {
      const auto severity = std::string(alert.labels.get("severity"));
      w.begin_object().key("alert").string(rule.name);
      w.key("labels").labels(LabelsBuilder(alert.labels).erase(kAlertName).build());
      w.key("severity").string(severity.empty() ? "none" : severity);
      w.key("from").number(to_seconds(alert.fired_at - replay.from)).key("to");
      if (alert.resolved_at)
        w.number(to_seconds(*alert.resolved_at - replay.from));
      else
        w.null();
      w.key("text").string(about).end_object();
    }
  }
  w.end_array().end_object();
  return text + "\n";
}

std::string summary_json(const std::vector<AlertSummary>& summaries) {
  std::string text;
  base::JsonWriter w(text);
  const auto count = [&](std::string_view key, size_t n) {
    w.key(key).integer(static_cast<int64_t>(n));
  };
  w.begin_array();
  for (const AlertSummary& s : summaries) {
    w.begin_object().key("alert").string(s.name).key("severity").string(s.severity);
    count("fired", s.fired);
    w.key("total").number(to_seconds(s.total)).key("longest").number(to_seconds(s.longest));
    count("flaps", s.flaps), count("nights", s.nights), count("pages", s.pages);
    count("nightPages", s.night_pages), count("untold", s.untold);
    w.key("receivers").begin_array();
    for (const std::string& receiver : s.receivers) w.string(receiver);
    w.end_array().end_object();
  }
  w.end_array();
  return text;
}

}  // namespace vagt::cli

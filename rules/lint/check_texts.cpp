#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "rules/lint/checks.h"
#include "rules/lint/label_flow.h"

namespace vagt::rules {
namespace {

// The parts of a template between {{ and }}.
std::vector<std::string_view> actions(std::string_view text) {
  std::vector<std::string_view> found;
  for (size_t at = 0; (at = text.find("{{", at)) != std::string_view::npos;) {
    const size_t end = text.find("}}", at);
    if (end == std::string_view::npos) break;
    found.push_back(text.substr(at + 2, end - at - 2));
    at = end + 2;
  }
  return found;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Names after `prefix`: `$labels.` in "$labels.gpu" gives "gpu".
std::vector<std::string> names_after(std::string_view action, std::string_view prefix) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = action.find(prefix, at)) != std::string_view::npos;) {
    const bool is_start = at == 0 || (!is_word(action[at - 1]) && action[at - 1] != '$');
    at += prefix.size();
    size_t end = at;
    while (end < action.size() && is_word(action[end])) ++end;
    if (is_start && end > at) names.emplace_back(action.substr(at, end - at));
  }
  return names;
}

bool names_value(std::string_view action) {
  for (const std::string_view word : {"$value", ".Value"}) {
    const size_t at = action.find(word);
    if (at == std::string_view::npos) continue;
    const size_t end = at + word.size();
    if (end == action.size() || !is_word(action[end])) return true;
  }
  return false;
}

void value_in_label(const AlertRule& alert, const Report& report) {
  for (const auto& [name, text] : alert.labels) {
    for (const std::string_view action : actions(text)) {
      if (!names_value(action)) continue;
      report(
          "value-in-label", nullptr,
          fmt::format("label {} holds the value: whenever it changes, one alert ends and another "
                      "one begins, and `for` starts anew",
                      name),
          "put it into an annotation");
      break;
    }
  }
}

void prints_nothing(const AlertRule& alert, const Report& report) {
  const LabelFlow flow = labels_of(*alert.expr);
  const auto look = [&](const TextMap& texts, std::string_view kind) {
    for (const auto& [name, text] : texts) {
      for (const std::string_view action : actions(text)) {
        for (const std::string_view prefix : {"$labels.", ".Labels."}) {
          for (const std::string& label : names_after(action, prefix)) {
            if (flow.may_have(label)) continue;
            report("template-prints-nothing", nullptr,
                   fmt::format("{} {} names the label {}, which the expression drops", kind, name,
                               label),
                   "");
          }
        }
      }
    }
  };
  look(alert.labels, "label");
  look(alert.annotations, "annotation");
}

bool has_any(const TextMap& texts, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    const auto found = texts.find(std::string(name));
    return found != texts.end() && !found->second.empty();
  });
}

}  // namespace

void check_texts(const CheckedRule& rule, const Report& report) {
  const AlertRule* alert = rule.alert();
  if (alert == nullptr) return;
  if (!has_any(alert->labels, {"severity"})) {
    report("no-severity", nullptr, "no label `severity`: routes cannot tell a page from a note",
           "severity: warning");
  }
  if (!has_any(alert->annotations, {"summary", "description", "message", "title"})) {
    report("no-summary", nullptr, "no summary: whoever is woken reads a name and labels", "");
  }
  if (!has_any(alert->annotations, {"runbook_url", "runbook"})) {
    report("no-runbook", nullptr, "no runbook: whoever is woken has to know what to do", "");
  }
  value_in_label(*alert, report);
  prints_nothing(*alert, report);
}

}  // namespace vagt::rules

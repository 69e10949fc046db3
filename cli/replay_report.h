// What a replay comes to: counts and times by alert, who was told, what another rule set does
// differently.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "cli/context.h"
#include "notify/rehearsal/rehearsal.h"
#include "rules/replay/replay_result.h"

namespace vagt::cli {

// A rule's alerts, or all of one name and severity.
struct AlertSummary {
  std::string name, severity;
  size_t fired = 0;
  Duration total{}, longest{};
  size_t flaps = 0;                    // fired again within 30 minutes of its end
  size_t nights = 0;                   // fired between 22 and 7 o'clock, local time
  size_t pages = 0, night_pages = 0;   // groups that opened with it
  size_t untold = 0;                   // inhibited, silenced, muted, or of no receiver
  std::vector<std::string> receivers;  // sorted
};

// In the order of the rules; those that never fired too.
std::vector<AlertSummary> summarize(const rules::Replay& replay);

// The alerts of all rules as receivers would see them, in the order of the rules.
std::vector<notify::RehearsedAlert> alerts_to_rehearse(const rules::Replay& replay);
// Adds who was told what; `messages` are of alerts_to_rehearse().
void add_messages(const rules::Replay& replay,
                  const std::vector<notify::RehearsedMessage>& messages,
                  std::vector<AlertSummary>& summaries);

std::string summary_table(const std::vector<AlertSummary>& summaries, bool with_receivers);
// One line an alert: when, how long, labels, summary.
std::string alert_list(const Context& context, const rules::Replay& replay);
// One line a rule that failed; "" when none did.
std::string failure_list(const rules::Replay& replay);
// What `replay` does that `other` does not; says so when they are the same.
std::string difference(const Context& context, const rules::Replay& replay,
                       const rules::Replay& other);

// The form that graders of alerts read: {"NAME": [{alert, labels, severity, from, to, text}]},
// times in seconds from the replay's beginning.
std::string score_json(const rules::Replay& replay, const std::string& name);
std::string summary_json(const std::vector<AlertSummary>& summaries);

}  // namespace vagt::cli

// What the Jira receiver reads out of the server's answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vagt::notify {

struct JiraIssue {
  std::string key;
  bool done = false;  // its status category
};
// Of a search answer; nullopt: nothing was found.
std::optional<JiraIssue> first_issue(std::string_view body);
// The id of the transition with this name; "" when the issue has none.
std::string transition_id(std::string_view body, std::string_view name);
bool is_json_object(std::string_view text);

}  // namespace vagt::notify

#include "notify/receivers/jira_answers.h"

#include <boost/json.hpp>

namespace vagt::notify {
namespace {

namespace json = boost::json;

json::value parse(std::string_view body) {
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(body.data(), body.size()), error);
  return error ? json::value() : value;
}

// A member by path; null where any step is missing.
const json::value* at(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* here = &value;
  for (const std::string_view name : path) {
    const auto* object = here->if_object();
    here = object == nullptr ? nullptr
                             : object->if_contains(json::string_view(name.data(), name.size()));
    if (here == nullptr) return nullptr;
  }
  return here;
}

std::string text_at(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* found = at(value, path);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

const json::array* list_at(const json::value& value, std::string_view name) {
  const json::value* found = at(value, {name});
  return found == nullptr ? nullptr : found->if_array();
}

}  // namespace

std::optional<JiraIssue> first_issue(std::string_view body) {
  const json::value answer = parse(body);
  const auto* issues = list_at(answer, "issues");
  if (issues == nullptr || issues->empty()) return std::nullopt;
  JiraIssue issue;
  issue.key = text_at((*issues)[0], {"key"});
  issue.done = text_at((*issues)[0], {"fields", "status", "statusCategory", "key"}) == "done";
  return issue;
}

std::string transition_id(std::string_view body, std::string_view name) {
  const json::value answer = parse(body);
  const auto* transitions = list_at(answer, "transitions");
  if (transitions == nullptr) return {};
  for (const auto& transition : *transitions) {
    if (text_at(transition, {"name"}) == name) return text_at(transition, {"id"});
  }
  return {};
}

bool is_json_object(std::string_view text) { return parse(text).is_object(); }

}  // namespace vagt::notify

// Jira: one issue per group, transitioned as it fires and resolves.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "net/http_client.h"
#include "notify/notifier.h"

namespace vagt::notify {

struct JiraField {
  std::string text;
  bool update = true;
};
struct JiraConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  std::string api_url, api_type = "auto", project, issue_type;
  JiraField summary{R"({{ template "jira.default.summary" . }})", true},
      description{R"({{ template "jira.default.description" . }})", true};
  std::string priority = R"({{ template "jira.default.priority" . }})";
  std::vector<std::string> labels;
  std::string reopen_transition, resolve_transition, wont_fix_resolution;
  Duration reopen_duration{0};
  std::map<std::string, std::string> fields;  // custom fields: JSON whose strings are templates
};
std::unique_ptr<Notifier> make_jira_notifier(const JiraConfig& config);

}  // namespace vagt::notify

// What the API shows of alerts, groups and receivers: copies taken at one instant.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "base/time.h"
#include "notify/alert_record.h"

namespace vagt::notify {

struct AlertStatusView {
  std::string state = "active";  // active, suppressed
  std::vector<std::string> silenced_by, inhibited_by, muted_by;
};
struct AlertView {
  AlertPtr alert;
  std::vector<std::string> receivers;
  AlertStatusView status;
};
struct GroupView {
  Labels labels;
  std::string receiver;
  std::map<std::string, std::string> route_labels;
  std::vector<AlertView> alerts;  // in the order of payloads
};
struct ReceiverView {
  std::string name;
  std::map<std::string, std::string> labels;  // "name" is always there
};

// The query of GET /api/v2/alerts and /alerts/groups.
struct AlertQuery {
  bool active = true, silenced = true, inhibited = true, unprocessed = true, muted = true;
  std::vector<Matcher> filters;
  std::string receiver;  // regular expression, anchored; "" takes all
  std::vector<Matcher> receiver_matchers;
};

// One attempt, for the status page: what went to whom and what came back.
struct DeliveryView {
  std::string receiver, integration, group_key;
  Timestamp at{};
  bool sent = false;
  int failed_attempts = 0;            // before the last one
  std::string detail;                 // the failure, without secrets; empty when it was sent
  std::vector<std::string> problems;  // templates that failed: "title: …"
};

}  // namespace vagt::notify

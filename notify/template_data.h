// What notification templates see: .Receiver, .Status, .Alerts, .GroupLabels and the rest, with
// Alertmanager's methods.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "notify/notification.h"
#include "template/go_time.h"
#include "template/template.h"

namespace vagt::notify {

struct TemplateData {
  using Kv = std::map<std::string, std::string>;
  struct AlertData {
    std::string status, generator_url, fingerprint;
    Kv labels, annotations;
    tmpl::GoTime starts_at = tmpl::GoTime::zero(), ends_at = tmpl::GoTime::zero();
  };
  std::string receiver, status, external_url, notification_reason;
  std::vector<AlertData> alerts;
  Kv group_labels, common_labels, common_annotations, route_labels;

  tmpl::TemplateValue to_value() const;
};

TemplateData template_data(const Notification& n);
// The JSON of a webhook, as `template render --template.data` takes it. InvalidArgument.
Result<TemplateData> parse_template_data(std::string_view json);

}  // namespace vagt::notify

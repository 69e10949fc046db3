#include <boost/json.hpp>

#include "notify/template_data.h"

namespace vagt::notify {
namespace {

namespace json = boost::json;

Status read_text(const json::object& object, std::string_view name, std::string& out) {
  const auto* value = object.if_contains(json::string_view(name.data(), name.size()));
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_string()) return Status::invalid(std::string(name) + " must be a string");
  out = std::string(value->get_string());
  return {};
}

Status read_map(const json::object& object, std::string_view name, TemplateData::Kv& out) {
  const auto* value = object.if_contains(json::string_view(name.data(), name.size()));
  if (value == nullptr || value->is_null()) return {};
  if (!value->is_object()) return Status::invalid(std::string(name) + " must be an object");
  for (const auto& member : value->get_object()) {
    if (!member.value().is_string())
      return Status::invalid(std::string(name) + " must hold strings");
    out[std::string(member.key())] = std::string(member.value().get_string());
  }
  return {};
}

Status read_time(const json::object& object, std::string_view name, tmpl::GoTime& out) {
  std::string text;
  VAGT_CHECK_OK(read_text(object, name, text));
  if (text.empty()) return {};
  VAGT_TRY(out, tmpl::parse_rfc3339_time(text));
  return {};
}

Result<TemplateData::AlertData> read_alert(const json::value& value) {
  TemplateData::AlertData alert;
  const auto* object = value.if_object();
  if (object == nullptr) return Status::invalid("an alert must be an object");
  VAGT_CHECK_OK(read_text(*object, "status", alert.status));
  VAGT_CHECK_OK(read_text(*object, "generatorURL", alert.generator_url));
  VAGT_CHECK_OK(read_text(*object, "fingerprint", alert.fingerprint));
  VAGT_CHECK_OK(read_map(*object, "labels", alert.labels));
  VAGT_CHECK_OK(read_map(*object, "annotations", alert.annotations));
  VAGT_CHECK_OK(read_time(*object, "startsAt", alert.starts_at));
  VAGT_CHECK_OK(read_time(*object, "endsAt", alert.ends_at));
  return alert;
}

}  // namespace

Result<TemplateData> parse_template_data(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  if (error) return Status::invalid("not JSON: " + error.message());
  const auto* object = value.if_object();
  if (object == nullptr) return Status::invalid("the data must be an object");
  TemplateData data;
  VAGT_CHECK_OK(read_text(*object, "receiver", data.receiver));
  VAGT_CHECK_OK(read_text(*object, "status", data.status));
  VAGT_CHECK_OK(read_text(*object, "externalURL", data.external_url));
  VAGT_CHECK_OK(read_text(*object, "notification_reason", data.notification_reason));
  VAGT_CHECK_OK(read_map(*object, "groupLabels", data.group_labels));
  VAGT_CHECK_OK(read_map(*object, "commonLabels", data.common_labels));
  VAGT_CHECK_OK(read_map(*object, "commonAnnotations", data.common_annotations));
  VAGT_CHECK_OK(read_map(*object, "routeLabels", data.route_labels));
  if (const auto* alerts = object->if_contains("alerts"); alerts != nullptr && alerts->is_array()) {
    for (const auto& item : alerts->get_array()) {
      VAGT_TRY(auto alert, read_alert(item));
      data.alerts.push_back(std::move(alert));
    }
  }
  return data;
}

}  // namespace vagt::notify

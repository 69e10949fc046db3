#include "cli/replay_answer.h"

#include <boost/json.hpp>
#include <cmath>

#include "base/number_text.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;

Duration duration_of(const json::value& value) {
  return Duration(std::llround(value.to_number<double>() * 1000));
}
Timestamp time_of(const json::value& value) { return Timestamp(duration_of(value)); }
std::string text_of(const json::value& value) { return std::string(value.as_string()); }

rules::TextMap texts_of(const json::value& value) {
  rules::TextMap texts;
  for (const auto& entry : value.as_object())
    texts[std::string(entry.key())] = text_of(entry.value());
  return texts;
}

rules::ReplayedAlert alert_of(const json::value& value) {
  rules::ReplayedAlert alert;
  alert.labels = Labels::from_map(texts_of(value.at("labels")));
  alert.annotations = texts_of(value.at("annotations"));
  alert.value = parse_float(text_of(value.at("value"))).value_or(std::nan(""));
  alert.active_at = time_of(value.at("activeAt"));
  alert.fired_at = time_of(value.at("firedAt"));
  if (!value.at("resolvedAt").is_null()) alert.resolved_at = time_of(value.at("resolvedAt"));
  return alert;
}

rules::ReplayedRule rule_of(const json::value& value) {
  rules::ReplayedRule rule;
  rule.file = text_of(value.at("file")), rule.group = text_of(value.at("group"));
  rule.name = text_of(value.at("name")), rule.query = text_of(value.at("query"));
  rule.alerting = value.at("type").as_string() == "alerting";
  rule.labels = texts_of(value.at("labels")), rule.annotations = texts_of(value.at("annotations"));
  rule.interval = duration_of(value.at("interval"));
  rule.hold_for = duration_of(value.at("duration"));
  rule.keep_firing_for = duration_of(value.at("keepFiringFor"));
  rule.evaluations = value.at("evaluations").to_number<uint64_t>();
  rule.failures = value.at("failures").to_number<uint64_t>();
  rule.last_error = text_of(value.at("lastError"));
  rule.seconds = value.at("evaluationTime").to_number<double>();
  for (const json::value& alert : value.at("alerts").as_array())
    rule.alerts.push_back(alert_of(alert));
  return rule;
}

rules::Replay replay_of(const json::value& data, std::string_view rules) {
  rules::Replay replay;
  replay.from = time_of(data.at("from")), replay.to = time_of(data.at("to"));
  replay.external_labels = Labels::from_map(texts_of(data.at("externalLabels")));
  for (const json::value& rule : data.at(rules).as_array()) replay.rules.push_back(rule_of(rule));
  return replay;
}

}  // namespace

Result<ReplayAnswer> read_replay_answer(const boost::json::value& data) {
  try {
    ReplayAnswer answer{replay_of(data, "rules"), std::nullopt};
    if (data.as_object().contains("against")) answer.against = replay_of(data, "against");
    return answer;
  } catch (const std::exception& failure) {
    return Status(Code::Unavailable,
                  std::string("the server's answer is no replay: ") + failure.what());
  }
}

}  // namespace vagt::cli

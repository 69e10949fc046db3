#include "notify/api_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json_writer.h"
#include "base/regex.h"
#include "notify/matchers.h"

namespace vagt::notify {
namespace {

namespace json = boost::json;

// Codes of the request validation that Alertmanager's API answers with.
constexpr int kParseFailed = 400, kRequired = 602, kTooFew = 612;

ApiError parse_error(std::string_view what, const std::string& why) {
  return {400, fmt::format("parsing {} body from \"\" failed, because {}", what, why),
          kParseFailed};
}
ApiError missing(const std::string& name) {
  return {422, name + " in body is required", kRequired};
}
ApiError wrong_type(std::string_view what, const std::string& name) {
  return parse_error(what, "json: cannot unmarshal value into field " + name);
}

const json::value* find(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(json::string_view(name.data(), name.size()));
  return value == nullptr || value->is_null() ? nullptr : value;
}

// Reads members of one object; the first complaint is kept.
class Reader {
 public:
  Reader(const json::object& object, std::string_view what) : object_(object), what_(what) {}

  Reader& text(std::string_view name, std::string& out) {
    if (const auto* value = find(object_, name)) {
      if (value->is_string()) {
        out = std::string(value->get_string());
      } else {
        fail(wrong_type(what_, std::string(name)));
      }
    }
    return *this;
  }
  Reader& flag(std::string_view name, bool& out) {
    if (const auto* value = find(object_, name)) {
      if (value->is_bool()) {
        out = value->get_bool();
      } else {
        fail(wrong_type(what_, std::string(name)));
      }
    }
    return *this;
  }
  Reader& map(std::string_view name, std::map<std::string, std::string>& out) {
    const auto* value = find(object_, name);
    if (value == nullptr) return *this;
    if (!value->is_object()) return fail(wrong_type(what_, std::string(name)));
    for (const auto& member : value->get_object()) {
      if (!member.value().is_string()) return fail(wrong_type(what_, std::string(name)));
      out[std::string(member.key())] = std::string(member.value().get_string());
    }
    return *this;
  }
  Reader& time(std::string_view name, std::optional<Timestamp>& out) {
    std::string written;
    text(name, written);
    if (written.empty()) return *this;
    auto parsed = parse_rfc3339(written);
    if (!parsed.ok())
      return fail(
          parse_error(what_, "parsing time \"" + written + "\": " + parsed.error().message()));
    if (*parsed != kNoTime) out = *parsed;
    return *this;
  }
  Reader& required(std::string_view name) {
    if (find(object_, name) == nullptr) fail(missing(std::string(name)));
    return *this;
  }
  Reader& fail(ApiError error) {
    if (!error_) error_ = std::move(error);
    return *this;
  }
  const std::optional<ApiError>& error() const { return error_; }

 private:
  const json::object& object_;
  const std::string_view what_;
  std::optional<ApiError> error_;
};

json::value parse(std::string_view body, std::string_view what, std::optional<ApiError>& error) {
  boost::system::error_code code;
  json::parse_options options;
  options.max_depth = 16;
  json::value value = json::parse(json::string_view(body.data(), body.size()), code, {}, options);
  if (code) error = parse_error(what, code.message());
  return value;
}

std::optional<ApiError> read_alert(const json::value& value, PostedAlert& out) {
  const auto* object = value.if_object();
  if (object == nullptr) return wrong_type("alerts", "alert");
  std::map<std::string, std::string> labels;
  Reader r(*object, "alerts");
  r.map("labels", labels).map("annotations", out.annotations);
  r.time("startsAt", out.starts_at).time("endsAt", out.ends_at);
  r.text("generatorURL", out.generator_url).required("labels");
  if (r.error()) return r.error();
  Labels::Pairs pairs(labels.begin(), labels.end());
  auto made = Labels::make(std::move(pairs));
  if (!made.ok()) return ApiError{400, "invalid label set: " + made.error().message(), 0};
  out.labels = std::move(made).value();
  return std::nullopt;
}

std::optional<ApiError> read_matcher(const json::value& value, std::vector<Matcher>& out) {
  const auto* object = value.if_object();
  if (object == nullptr) return wrong_type("silence", "matchers");
  std::string name, text;
  bool is_regex = false, is_equal = true;
  Reader r(*object, "silence");
  r.text("name", name).text("value", text).flag("isRegex", is_regex).flag("isEqual", is_equal);
  r.required("isRegex").required("name").required("value");
  if (r.error()) return r.error();
  const MatchOp op = is_regex ? (is_equal ? MatchOp::Regex : MatchOp::NotRegex)
                              : (is_equal ? MatchOp::Equal : MatchOp::NotEqual);
  if (!is_label_name(name))
    return ApiError{
        400, "invalid silence: invalid label matcher 0: invalid label name " + quote(name), 0};
  auto matcher = Matcher::make(op, std::move(name), std::move(text));
  if (!matcher.ok()) return ApiError{400, matcher.error().message(), 0};
  out.push_back(std::move(matcher).value());
  return std::nullopt;
}

std::optional<ApiError> read_matchers(const json::value& value, std::vector<Matcher>& out) {
  if (!value.is_array()) return wrong_type("silence", "matchers");
  if (value.get_array().empty()) {
    return ApiError{422, "matchers in body should have at least 1 items", kTooFew};
  }
  for (const auto& item : value.get_array()) {
    if (auto error = read_matcher(item, out)) return error;
  }
  return std::nullopt;
}

// What is not a boolean counts as false.
bool flag_value(const std::string& text) {
  static constexpr std::string_view kTrue[] = {"1", "true", "True", "TRUE", "t",
                                               "T", "yes",  "ok",   "y",    "on"};
  return std::find(std::begin(kTrue), std::end(kTrue), text) != std::end(kTrue);
}

// Always three decimals, as Go's strfmt prints.
std::string api_time(Timestamp t) {
  std::string text = format_rfc3339(std::chrono::floor<std::chrono::seconds>(t));
  const auto ms = (t - std::chrono::floor<std::chrono::seconds>(t)).count();
  if (text.ends_with('Z')) text.pop_back();
  return text + fmt::format(".{:03}Z", ms);
}

void write_map(base::JsonWriter& w, const std::map<std::string, std::string>& map) {
  w.begin_object();
  for (const auto& [name, value] : map) w.key(name).string(value);
  w.end_object();
}

void write_strings(base::JsonWriter& w, std::string_view name,
                   const std::vector<std::string>& list) {
  w.key(name).begin_array();
  for (const auto& item : list) w.string(item);
  w.end_array();
}

void write_alert(base::JsonWriter& w, const AlertView& view) {
  const NotifyAlert& alert = *view.alert;
  w.begin_object().key("annotations");
  write_map(w, alert.annotations);
  w.key("endsAt").string(api_time(alert.ends_at));
  w.key("fingerprint").string(fingerprint_text(alert.fingerprint()));
  w.key("receivers").begin_array();
  for (const auto& name : view.receivers) w.begin_object().key("name").string(name).end_object();
  w.end_array();
  w.key("startsAt").string(api_time(alert.starts_at));
  w.key("status").begin_object();
  write_strings(w, "inhibitedBy", view.status.inhibited_by);
  write_strings(w, "mutedBy", view.status.muted_by);
  write_strings(w, "silencedBy", view.status.silenced_by);
  w.key("state").string(view.status.state).end_object();
  w.key("updatedAt").string(api_time(alert.updated_at));
  if (!alert.generator_url.empty()) w.key("generatorURL").string(alert.generator_url);
  w.key("labels").labels(alert.labels).end_object();
}

void write_matchers(base::JsonWriter& w, const std::vector<Matcher>& matchers) {
  w.begin_array();
  for (const Matcher& m : matchers) {
    w.begin_object();
    w.key("isEqual").boolean(m.op() == MatchOp::Equal || m.op() == MatchOp::Regex);
    w.key("isRegex").boolean(m.op() == MatchOp::Regex || m.op() == MatchOp::NotRegex);
    w.key("name").string(m.name()).key("value").string(m.value()).end_object();
  }
  w.end_array();
}

void write_silence(base::JsonWriter& w, const Silence& silence, Timestamp now) {
  w.begin_object();
  w.key("id").string(silence.id);
  w.key("status")
      .begin_object()
      .key("state")
      .string(silence_state_name(silence.state(now)))
      .end_object();
  w.key("updatedAt").string(api_time(silence.updated_at));
  w.key("annotations");
  write_map(w, silence.annotations);
  w.key("comment").string(silence.comment);
  w.key("createdBy").string(silence.created_by);
  w.key("endsAt").string(api_time(silence.ends_at));
  w.key("matchers");
  write_matchers(w,
                 silence.matcher_sets.empty() ? std::vector<Matcher>() : silence.matcher_sets[0]);
  if (silence.matcher_sets.size() > 1) {
    w.key("matcherSets").begin_array();
    for (const auto& set : silence.matcher_sets) {
      w.begin_object().key("matchers");
      write_matchers(w, set);
      w.end_object();
    }
    w.end_array();
  }
  w.key("startsAt").string(api_time(silence.starts_at)).end_object();
}

Status add_filter(std::vector<Matcher>& filters, const std::string& text) {
  auto matcher = parse_matcher(text);
  if (!matcher.ok()) return std::move(matcher).error();
  filters.push_back(std::move(matcher).value());
  return {};
}

}  // namespace

ParsedAlerts parse_posted_alerts(std::string_view body) {
  ParsedAlerts out;
  const json::value value = parse(body, "alerts", out.error);
  if (out.error) return out;
  if (!value.is_array()) {
    out.error = parse_error("alerts", "json: cannot unmarshal into a list of alerts");
    return out;
  }
  for (const auto& item : value.get_array()) {
    PostedAlert alert;
    if (auto error = read_alert(item, alert)) {
      out.error = std::move(error);
      out.alerts.clear();
      return out;
    }
    out.alerts.push_back(std::move(alert));
  }
  return out;
}

ParsedSilence parse_posted_silence(std::string_view body) {
  ParsedSilence out;
  const json::value value = parse(body, "silence", out.error);
  if (out.error) return out;
  const auto* object = value.if_object();
  if (object == nullptr) {
    out.error = parse_error("silence", "json: cannot unmarshal into a silence");
    return out;
  }
  std::optional<Timestamp> starts, ends;
  Reader r(*object, "silence");
  r.text("id", out.silence.id).text("comment", out.silence.comment);
  r.text("createdBy", out.silence.created_by).map("annotations", out.silence.annotations);
  r.time("startsAt", starts).time("endsAt", ends);
  const auto* sets = find(*object, "matcherSets");
  r.required("comment").required("createdBy").required("endsAt").required("startsAt");
  if (sets == nullptr) r.required("matchers");
  out.error = r.error();
  if (out.error) return out;
  out.silence.starts_at = starts.value_or(kNoTime);
  out.silence.ends_at = ends.value_or(kNoTime);
  if (sets != nullptr && sets->is_array() && !sets->get_array().empty()) {
    for (const auto& set : sets->get_array()) {
      const auto* holder = set.if_object();
      const auto* matchers = holder != nullptr ? find(*holder, "matchers") : &set;
      if (matchers == nullptr) out.error = missing("matchers");
      if (!out.error) out.error = read_matchers(*matchers, out.silence.matcher_sets.emplace_back());
      if (out.error) return out;
    }
    return out;
  }
  out.error = read_matchers(*find(*object, "matchers"), out.silence.matcher_sets.emplace_back());
  return out;
}

Result<AlertQuery> parse_alert_query(const QueryParameters& parameters) {
  AlertQuery query;
  for (const auto& [name, value] : parameters) {
    if (name == "filter") VAGT_CHECK_OK(add_filter(query.filters, value));
    if (name == "receiver_matchers") VAGT_CHECK_OK(add_filter(query.receiver_matchers, value));
    if (name == "active") query.active = flag_value(value);
    if (name == "silenced") query.silenced = flag_value(value);
    if (name == "inhibited") query.inhibited = flag_value(value);
    if (name == "unprocessed") query.unprocessed = flag_value(value);
    if (name == "muted") query.muted = flag_value(value);
    if (name == "receiver" && !value.empty()) {
      if (const auto regex = Regex::compile(value); !regex.ok()) {
        return Status::invalid("failed to parse receiver param: " + value);
      }
      query.receiver = value;
    }
  }
  return query;
}

Result<SilenceQuery> parse_silence_query(const QueryParameters& parameters) {
  SilenceQuery query;
  for (const auto& [name, value] : parameters) {
    if (name == "filter") VAGT_CHECK_OK(add_filter(query.filters, value));
    if (name == "active") query.active = flag_value(value);
    if (name == "pending") query.pending = flag_value(value);
    if (name == "expired") query.expired = flag_value(value);
  }
  return query;
}

bool silence_selected(const SilenceQuery& query, const Silence& silence, Timestamp now) {
  switch (silence.state(now)) {
    case SilenceState::Active:
      if (!query.active) return false;
      break;
    case SilenceState::Pending:
      if (!query.pending) return false;
      break;
    case SilenceState::Expired:
      if (!query.expired) return false;
      break;
  }
  if (query.filters.empty()) return true;
  return std::any_of(
      silence.matcher_sets.begin(), silence.matcher_sets.end(), [&](const auto& set) {
        return std::all_of(query.filters.begin(), query.filters.end(), [&](const Matcher& wanted) {
          return std::find(set.begin(), set.end(), wanted) != set.end();
        });
      });
}

std::string alerts_json(const std::vector<AlertView>& alerts) {
  std::string out;
  base::JsonWriter w(out);
  w.begin_array();
  for (const AlertView& view : alerts) write_alert(w, view);
  w.end_array();
  return out;
}

std::string groups_json(const std::vector<GroupView>& groups) {
  std::string out;
  base::JsonWriter w(out);
  w.begin_array();
  for (const GroupView& group : groups) {
    w.begin_object().key("alerts").begin_array();
    for (const AlertView& view : group.alerts) write_alert(w, view);
    w.end_array().key("labels").labels(group.labels);
    w.key("receiver").begin_object().key("name").string(group.receiver).end_object();
    w.key("routeLabels");
    write_map(w, group.route_labels);
    w.end_object();
  }
  w.end_array();
  return out;
}

std::string silences_json(const std::vector<Silence>& silences, Timestamp now) {
  std::string out;
  base::JsonWriter w(out);
  w.begin_array();
  for (const Silence& silence : silences) write_silence(w, silence, now);
  w.end_array();
  return out;
}

std::string silence_json(const Silence& silence, Timestamp now) {
  std::string out;
  base::JsonWriter w(out);
  write_silence(w, silence, now);
  return out;
}

std::string receivers_json(const std::vector<ReceiverView>& receivers) {
  std::string out;
  base::JsonWriter w(out);
  w.begin_array();
  for (const ReceiverView& receiver : receivers) {
    w.begin_object().key("labels");
    write_map(w, receiver.labels);
    w.key("name").string(receiver.name).end_object();
  }
  w.end_array();
  return out;
}

std::string status_json(const std::string& config_text, Timestamp started_at,
                        const std::string& version) {
  std::string out;
  base::JsonWriter w(out);
  w.begin_object();
  w.key("cluster").begin_object().key("name").string("").key("peers").begin_array().end_array();
  w.key("status").string("disabled").end_object();
  w.key("config").begin_object().key("original").string(config_text).end_object();
  w.key("uptime").string(api_time(started_at));
  w.key("versionInfo").begin_object();
  for (const char* name : {"branch", "buildDate", "buildUser", "goVersion", "revision"})
    w.key(name).string("");
  w.key("version").string(version).end_object().end_object();
  return out;
}

std::string error_json(const ApiError& error) {
  std::string out;
  base::JsonWriter w(out);
  if (error.code == 0) {
    w.string(error.message);
    return out;
  }
  w.begin_object()
      .key("code")
      .integer(error.code)
      .key("message")
      .string(error.message)
      .end_object();
  return out;
}

}  // namespace vagt::notify

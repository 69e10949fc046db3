#include "engine/api/rules_replay.h"

#include <fmt/core.h>

#include "base/json_writer.h"
#include "engine/api/v1_envelope.h"
#include "rules/replay/replay.h"
#include "tsdb/memory_store.h"

namespace vagt::engine::api {
namespace {

constexpr Duration kDefaultStretch = std::chrono::hours(24 * 30);
// What one client calls its replay; not meant to be long.
constexpr size_t kMaxIdBytes = 64;

std::unique_ptr<tsdb::Store> empty_store() {
  tsdb::MemoryStoreOptions options;
  options.out_of_order_window = std::chrono::hours(24 * 365 * 100);
  return std::make_unique<tsdb::MemoryStore>(options);
}

// "-30d" counts back from `end`.
Result<Timestamp> begin_param(const net::ServerRequest& request, Timestamp end) {
  const std::string_view text = request.param("from").value_or("");
  if (text.empty()) return end - kDefaultStretch;
  if (text.front() != '-') return time_param(request, "from", end);
  auto back = parse_duration(text.substr(1));
  if (!back.ok())
    return Status::invalid(fmt::format("invalid parameter \"from\": {}", back.error().message()));
  return end - *back;
}

// Texts of rule files: `name` and `rules` in pairs, the name being what the daemon would know the
// file as.
Result<std::vector<rules::RuleFile>> read_files(const net::ServerRequest& request,
                                                std::string_view name, std::string_view text,
                                                const query::ParseOptions& parse) {
  const auto names = request.param_all(name), texts = request.param_all(text);
  if (names.size() != texts.size())
    return Status::invalid(
        fmt::format("{} of {} but {} of {}", names.size(), quote(name), texts.size(), quote(text)));
  std::vector<rules::RuleFile> files;
  rules::RuleFileOptions options;
  options.parse = parse;
  for (size_t i = 0; i < names.size(); ++i) {
    rules::RuleFileResult result = rules::parse_rule_file(texts[i], std::string(names[i]), options);
    if (!result.errors.empty()) {
      std::string all;
      for (const Status& error : result.errors) all += (all.empty() ? "" : "\n") + error.message();
      return Status::invalid(std::move(all));
    }
    files.push_back(std::move(result.file));
  }
  return files;
}

struct ReplayQuestion {
  std::vector<rules::RuleFile> files;
  std::optional<std::vector<rules::RuleFile>> against;
  rules::ReplayOptions options;
  std::string id;
};

Result<ReplayQuestion> read_question(const net::ServerRequest& request,
                                     const ReplayContext& context) {
  ReplayQuestion question;
  rules::ReplayOptions& options = question.options;
  const auto running = context.running();
  options.settings = running->settings;
  options.history = &context.store;
  options.make_store = empty_store;
  options.external_url = context.external_url;
  options.eval = context.eval_options();
  options.parse = context.parse;
  options.clock = &context.clock;
  options.timeout = context.timeout;
  options.max_alerts = context.max_alerts;
  VAGT_TRY(options.to, time_param(request, "to", context.clock.now()));
  VAGT_TRY(options.from, begin_param(request, options.to));
  if (const auto text = request.param("interval"); text && !text->empty()) {
    VAGT_TRY(options.settings.evaluation_interval,
             parse_duration_text(*text).at("invalid parameter \"interval\""));
    if (options.settings.evaluation_interval < Duration(1))
      return Status::invalid("invalid parameter \"interval\": it takes no time");
    options.eval.default_subquery_step = options.settings.evaluation_interval;
  }
  VAGT_TRY(question.files, read_files(request, "name[]", "rules[]", context.parse));
  if (question.files.empty()) question.files = running->files;
  const std::string_view against = request.param("against").value_or("");
  if (against == "running") {
    question.against = running->files;
  } else if (!against.empty()) {
    return Status::invalid("invalid parameter \"against\": only \"running\" is known");
  } else if (request.param("against_name[]")) {
    VAGT_TRY(question.against,
             read_files(request, "against_name[]", "against_rules[]", context.parse));
  }
  question.id = request.param("id").value_or("").substr(0, kMaxIdBytes);
  return question;
}

void write_texts(base::JsonWriter& w, const rules::TextMap& texts) {
  w.begin_object();
  for (const auto& [name, text] : texts) w.key(name).string(text);
  w.end_object();
}

void write_time(base::JsonWriter& w, std::string_view key, Timestamp t) {
  std::string text;
  append_json_time(text, t);
  w.key(key).raw(text);
}

void write_alert(base::JsonWriter& w, const rules::ReplayedAlert& alert) {
  w.begin_object().key("labels").labels(alert.labels).key("annotations");
  write_texts(w, alert.annotations);
  std::string value;
  append_json_value(value, alert.value);
  w.key("value").string(value);
  write_time(w, "activeAt", alert.active_at);
  write_time(w, "firedAt", alert.fired_at);
  if (alert.resolved_at)
    write_time(w, "resolvedAt", *alert.resolved_at);
  else
    w.key("resolvedAt").null();
  w.end_object();
}

void write_rule(base::JsonWriter& w, const rules::ReplayedRule& rule) {
  w.begin_object().key("file").string(rule.file).key("group").string(rule.group);
  w.key("name").string(rule.name).key("type").string(rule.alerting ? "alerting" : "recording");
  w.key("query").string(rule.query).key("labels");
  write_texts(w, rule.labels);
  w.key("annotations");
  write_texts(w, rule.annotations);
  w.key("interval").number(to_seconds(rule.interval));
  w.key("duration").number(to_seconds(rule.hold_for));
  w.key("keepFiringFor").number(to_seconds(rule.keep_firing_for));
  w.key("evaluations").integer(static_cast<int64_t>(rule.evaluations));
  w.key("failures").integer(static_cast<int64_t>(rule.failures));
  w.key("lastError").string(rule.last_error);
  w.key("evaluationTime").number(rule.seconds).key("alerts").begin_array();
  for (const rules::ReplayedAlert& alert : rule.alerts) write_alert(w, alert);
  w.end_array().end_object();
}

void write_rules(base::JsonWriter& w, const rules::Replay& replay) {
  w.begin_array();
  for (const rules::ReplayedRule& rule : replay.rules) write_rule(w, rule);
  w.end_array();
}

// Notes how far a replay is while it lives.
class Noted {
 public:
  Noted(const ReplayContext& context, ReplayQuestion& question)
      : progress_(question.id.empty() ? nullptr : context.progress), id_(question.id) {
    if (!progress_) return;
    const double share = question.against ? 0.5 : 1;
    question.options.progress = [this, share](double done) {
      progress_->set(id_, begin_ + share * done);
    };
    progress_->set(id_, 0);
  }
  ~Noted() {
    if (progress_) progress_->erase(id_);
  }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  void second_half() { begin_ = 0.5; }

 private:
  const std::shared_ptr<ReplayProgress> progress_;
  const std::string id_;
  double begin_ = 0;
};

net::ServerResponse run_replay(const ReplayContext& context, const net::ServerRequest& request) {
  auto question = read_question(request, context);
  if (!question.ok()) return v1_error(V1Error::BadData, question.error().message());
  Noted noted(context, *question);
  const auto replay =
      rules::replay_rules(std::move(question->files), question->options, request.closed);
  if (!replay.ok()) return v1_error(v1_error_of(replay.error()), replay.error().message());
  std::optional<rules::Replay> against;
  if (question->against) {
    noted.second_half();
    auto other =
        rules::replay_rules(std::move(*question->against), question->options, request.closed);
    if (!other.ok()) return v1_error(v1_error_of(other.error()), other.error().message());
    against = std::move(*other);
  }
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object();
    write_time(w, "from", replay->from);
    write_time(w, "to", replay->to);
    w.key("externalLabels").labels(replay->external_labels).key("rules");
    write_rules(w, *replay);
    if (against) write_rules(w.key("against"), *against);
    w.end_object();
  });
}

net::ServerResponse tell_progress(const ReplayContext& context) {
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object();
    for (const auto& [id, done] : context.progress->all()) w.key(id).number(done);
    w.end_object();
  });
}

}  // namespace

void add_replay_routes(Router& router, const ReplayContext& context) {
  router.add({"POST"}, "/api/v1/rules/replay", Lane::Slow,
             [&context](const net::ServerRequest& request, const PathArgs&) {
               return run_replay(context, request);
             });
  router.get(
      "/api/v1/rules/replay", Lane::Control,
      [&context](const net::ServerRequest&, const PathArgs&) { return tell_progress(context); });
}

}  // namespace vagt::engine::api

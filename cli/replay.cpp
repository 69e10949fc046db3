#include "cli/replay.h"

#include <fmt/core.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <thread>

#include "cli/prometheus_api.h"
#include "cli/replay_answer.h"
#include "cli/replay_export.h"
#include "cli/replay_report.h"
#include "config/alertmanager_config.h"
#include "notify/rehearsal/rehearsal.h"

namespace vagt::cli {
namespace {

constexpr const char* kPath = "/api/v1/rules/replay";

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return Status::io(path + ": cannot be read");
  return text;
}

// Files go by their full path: a daemon that has them loaded knows them so, and evaluates them at
// the same instants.
Status add_file(const std::string& path, const char* name_key, const char* text_key,
                Params& params) {
  VAGT_TRY(std::string text, read_file(path));
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error).lexically_normal();
  params.emplace_back(name_key, error ? path : full.string());
  params.emplace_back(text_key, std::move(text));
  return {};
}

Result<Timestamp> parse_end(const Context& context, const std::string& text) {
  if (text.empty() || text == "now") return context.clock.now();
  if (text.front() != '-') return parse_instant(text);
  VAGT_TRY(const Duration back, parse_any_duration(text.substr(1)));
  return context.clock.now() - back;
}

std::string seconds_text(Timestamp t) { return fmt::format("{:.3f}", to_seconds(t)); }

Result<Params> make_params(const Context& context, const ReplayRules& options,
                           const std::string& id) {
  Params params;
  VAGT_TRY(const Timestamp to, parse_end(context, options.to).at("--to"));
  Timestamp from{};
  if (options.from.starts_with("-")) {
    VAGT_TRY(const Duration back, parse_any_duration(options.from.substr(1)).at("--from"));
    from = to - back;
  } else {
    VAGT_TRY(from, parse_instant(options.from).at("--from"));
  }
  params = {{"from", seconds_text(from)}, {"to", seconds_text(to)}, {"id", id}};
  if (!options.interval.empty()) {
    VAGT_TRY(const Duration interval, parse_any_duration(options.interval).at("--interval"));
    params.emplace_back("interval", format_duration(interval));
  }
  for (const std::string& file : options.files)
    VAGT_CHECK_OK(add_file(file, "name[]", "rules[]", params));
  if (options.against == "running") {
    params.emplace_back("against", "running");
  } else if (!options.against.empty()) {
    VAGT_CHECK_OK(add_file(options.against, "against_name[]", "against_rules[]", params));
  }
  return params;
}

// Asks the server now and then how far it is, and draws it where a person looks.
class ProgressBar {
 public:
  ProgressBar(Context& context, const std::string& url, std::string id)
      : context_(context), url_(url), id_(std::move(id)) {
    if (::isatty(STDERR_FILENO) != 1) return;
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
  }

 private:
  void run(const std::stop_token& stop) {
    auto api = PrometheusApi::connect(context_, url_);
    if (!api) return;
    while (wait(stop)) {
      const auto answer = api->get(kPath, {});
      if (!answer || !answer->is_object()) continue;
      const auto* done = answer->as_object().if_contains(id_);
      if (done != nullptr && done->is_number()) draw(done->to_number<double>());
    }
    context_.err << "\r\x1b[K" << std::flush;
  }
  static bool wait(const std::stop_token& stop) {
    SystemClock clock;
    return clock.sleep_until(clock.now() + std::chrono::milliseconds(300), stop);
  }
  void draw(double done) {
    constexpr size_t kWidth = 40;
    const auto filled = static_cast<size_t>(done * kWidth);
    context_.err << fmt::format("\r[{}{}] {:3.0f} %", std::string(filled, '#'),
                                std::string(kWidth - std::min(filled, kWidth), ' '), done * 100)
                 << std::flush;
  }

  Context& context_;
  const std::string url_, id_;
  std::jthread thread_;
};

Result<boost::json::value> ask(Context& context, const ReplayRules& options) {
  const std::string id = fmt::format("vagtctl-{}-{}", ::getpid(), to_millis(context.clock.now()));
  VAGT_TRY(const Params params, make_params(context, options, id));
  VAGT_TRY(PrometheusApi api, PrometheusApi::connect(context, options.url));
  VAGT_TRY(const Duration timeout, parse_any_duration(options.timeout).at("--replay-timeout"));
  api.set_timeout(timeout);
  const ProgressBar bar(context, options.url, id);
  return api.post(kPath, params);
}

notify::Silence silence_of(const SilenceView& view, Status& status) {
  notify::Silence silence;
  silence.id = view.id, silence.starts_at = view.starts_at, silence.ends_at = view.ends_at;
  std::vector<Matcher>& matchers = silence.matcher_sets.emplace_back();
  for (const SilenceMatcher& m : view.matchers) {
    const MatchOp op = m.is_regex ? (m.is_equal ? MatchOp::Regex : MatchOp::NotRegex)
                                  : (m.is_equal ? MatchOp::Equal : MatchOp::NotEqual);
    auto matcher = Matcher::make(op, m.name, m.value);
    if (matcher)
      matchers.push_back(std::move(*matcher));
    else
      status = std::move(matcher).error().at("silence " + view.id);
  }
  return silence;
}

Result<std::vector<notify::Silence>> read_silences(const std::string& path) {
  std::vector<notify::Silence> silences;
  if (path.empty()) return silences;
  VAGT_TRY(const std::string text, read_file(path));
  VAGT_TRY(const std::vector<SilenceView> views, parse_silences(text).at(path));
  Status status;
  for (const SilenceView& view : views) silences.push_back(silence_of(view, status));
  if (!status.ok()) return std::move(status).at(path);
  return silences;
}

Status rehearse(const ReplayRules& options, const rules::Replay& replay,
                std::vector<AlertSummary>& summaries) {
  if (options.alertmanager_config.empty()) return {};
  VAGT_TRY(const notify::Config config,
           config::load_alertmanager_config(options.alertmanager_config));
  VAGT_TRY(const auto silences, read_silences(options.silences_file));
  const auto alerts = alerts_to_rehearse(replay);
  add_messages(replay, notify::rehearse(config, alerts, replay.to, silences), summaries);
  return {};
}

void print_table(Context& context, const ReplayRules& options, const ReplayAnswer& answer,
                 const std::vector<AlertSummary>& summaries) {
  const rules::Replay& replay = answer.replay;
  context.out << fmt::format("{} rules from {} to {}\n\n", replay.rules.size(),
                             context.date(replay.from), context.date(replay.to))
              << summary_table(summaries, !options.alertmanager_config.empty());
  if (context.options.is_verbose) context.out << "\n" << alert_list(context, replay);
  if (const std::string failures = failure_list(replay); !failures.empty())
    context.out << "\n" << failures;
  if (answer.against) context.out << "\n" << difference(context, replay, *answer.against);
}

}  // namespace

int replay_rules(Context& context, const ReplayRules& options) {
  const auto output = context.output();
  if (!output) return context.fail(output.error());
  const bool wants_json = options.format == "json" || *output == Output::Json;
  if (options.format != "table" && options.format != "json" && options.format != "score")
    return context.fail("--format is table, json or score, not " + options.format);
  if (!options.silences_file.empty() && options.alertmanager_config.empty())
    return context.fail("--silences needs --alertmanager.config");
  auto data = ask(context, options);
  if (!data) return context.fail(data.error());
  const auto answer = read_replay_answer(*data);
  if (!answer) return context.fail(answer.error());
  if (!options.export_file.empty()) {
    const Status status = export_test(context, answer->replay,
                                      {options.url, options.export_alert, options.export_file});
    if (!status.ok()) return context.fail(Status(status).at("--export-test"));
  }
  if (options.format == "score") {
    context.out << score_json(answer->replay, options.name);
    context.err << failure_list(answer->replay);
    return kSuccess;
  }
  std::vector<AlertSummary> summaries = summarize(answer->replay);
  const Status told = rehearse(options, answer->replay, summaries);
  if (!told.ok()) return context.fail(told);
  if (wants_json) {
    data->as_object()["summary"] = boost::json::parse(summary_json(summaries));
    context.out << boost::json::serialize(*data) << "\n";
  } else {
    print_table(context, options, *answer, summaries);
  }
  return kSuccess;
}

}  // namespace vagt::cli

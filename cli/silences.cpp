#include "cli/silences.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <ostream>

#include "cli/alertmanager_api.h"
#include "cli/matcher_arguments.h"
#include "cli/table.h"

namespace vagt::cli {
namespace {

std::string user_name() {
  if (const passwd* const entry = ::getpwuid(::geteuid())) return entry->pw_name;
  const char* const user = std::getenv("USER");
  return user == nullptr ? "" : user;
}

// `a="b"`, `a!~"b"`
std::string matcher_text(const SilenceMatcher& matcher) {
  const char* const op =
      matcher.is_regex ? (matcher.is_equal ? "=~" : "!~") : (matcher.is_equal ? "=" : "!=");
  std::string value;
  for (const char c : matcher.value) {
    if (c == '\n') {
      value += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') value += '\\';
    value += c;
  }
  return matcher.name + op + "\"" + value + "\"";
}

std::string matchers_text(const SilenceView& silence, const char* separator) {
  std::string out;
  for (const SilenceMatcher& matcher : silence.matchers) {
    out += (out.empty() ? "" : separator) + matcher_text(matcher);
  }
  return out;
}

void print_simple(Context& context, const std::vector<SilenceView>& silences) {
  Table table({"ID", "Matchers", "Ends At", "Created By", "Comment"});
  for (const SilenceView& silence : silences) {
    table.add({silence.id, matchers_text(silence, " "), context.date(silence.ends_at),
               silence.created_by, silence.comment});
  }
  context.out << table.text();
}

void print_extended(Context& context, const std::vector<SilenceView>& silences) {
  Table table({"ID", "Matchers", "Starts At", "Ends At", "Updated At", "Created By", "Comment"});
  for (const SilenceView& silence : silences) {
    table.add({silence.id, "{" + matchers_text(silence, ",") + "}", context.date(silence.starts_at),
               context.date(silence.ends_at), context.date(silence.updated_at), silence.created_by,
               silence.comment});
  }
  context.out << table.text();
}

void print_json(Context& context, const std::vector<SilenceView>& silences) {
  context.out << "[";
  const char* separator = "";
  for (const SilenceView& silence : silences) {
    context.out << separator << silence.json;
    separator = ",";
  }
  context.out << "]\n";
}

int print(Context& context, std::vector<SilenceView> silences, bool quiet) {
  const auto output = context.output();
  if (!output) return context.fail(output.error());
  std::stable_sort(
      silences.begin(), silences.end(),
      [](const SilenceView& a, const SilenceView& b) { return a.ends_at < b.ends_at; });
  if (quiet) {
    for (const SilenceView& silence : silences) context.out << silence.id << "\n";
    return kSuccess;
  }
  switch (*output) {
    case Output::Simple:
      print_simple(context, silences);
      break;
    case Output::Extended:
      print_extended(context, silences);
      break;
    case Output::Json:
      print_json(context, silences);
      break;
  }
  return kSuccess;
}

// Sets the start and the end that are asked for.
Status apply_times(const SilenceTimes& times, SilenceView& silence) {
  if (!times.start.empty()) {
    VAGT_TRY(silence.starts_at, parse_rfc3339(times.start));
  }
  if (!times.end.empty()) {
    VAGT_TRY(silence.ends_at, parse_rfc3339(times.end));
  } else if (!times.duration.empty()) {
    VAGT_TRY(const Duration duration, parse_any_duration(times.duration));
    if (duration <= Duration(0)) {
      return Status::invalid("silence duration must be greater than 0");
    }
    silence.ends_at = silence.starts_at + duration;
  }
  if (silence.starts_at > silence.ends_at) {
    return Status::invalid("silence cannot start after it ends");
  }
  return {};
}

Result<SilenceView> make_silence(const Context& context, const SilenceAdd& add) {
  SilenceView silence;
  VAGT_TRY(const auto matchers, parse_matcher_arguments(with_alertname(add.matchers)));
  if (matchers.empty()) return Status::invalid("no matchers specified");
  for (const Matcher& matcher : matchers) {
    const bool is_regex = matcher.op() == MatchOp::Regex || matcher.op() == MatchOp::NotRegex;
    const bool is_equal = matcher.op() == MatchOp::Equal || matcher.op() == MatchOp::Regex;
    silence.matchers.push_back({matcher.name(), matcher.value(), is_regex, is_equal});
  }
  silence.starts_at = context.clock.now();
  VAGT_CHECK_OK(apply_times(add.times, silence));
  if (context.options.requires_comment && add.comment.empty()) {
    return Status::invalid("comment required by config");
  }
  silence.created_by = !add.author.empty()               ? add.author
                       : !context.options.author.empty() ? context.options.author
                                                         : user_name();
  silence.comment = add.comment;
  return silence;
}

bool is_wanted(const SilenceView& silence, const SilenceQuery& query, Timestamp now,
               Duration within) {
  if (query.expired ? silence.ends_at > now : silence.ends_at < now) return false;
  if (within > Duration(0)) {
    if (!query.expired && silence.ends_at > now + within) return false;
    if (query.expired && silence.ends_at < now - within) return false;
  }
  return query.created_by.empty() || silence.created_by == query.created_by;
}

Result<std::string> read_input(Context& context, const std::string& path) {
  if (path.empty()) {
    return std::string(std::istreambuf_iterator<char>(context.in),
                       std::istreambuf_iterator<char>());
  }
  std::ifstream file(path);
  if (!file) return Status::io("path '" + path + "' does not exist");
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// An id the server does not know is not an error: the silence is made anew.
Result<std::string> import_one(AlertmanagerApi& api, SilenceView silence) {
  auto id = api.post_silence(silence);
  if (id || id.error().code() != Code::NotFound || silence.id.empty()) return id;
  silence.id.clear();
  return api.post_silence(silence);
}

}  // namespace

int silence_add(Context& context, const SilenceAdd& add) {
  const auto silence = make_silence(context, add);
  if (!silence) return context.fail(silence.error());
  auto api = AlertmanagerApi::connect(context);
  if (!api) return context.fail(api.error());
  const auto id = api->post_silence(*silence);
  if (!id) return context.fail(id.error());
  context.out << *id << "\n";
  return kSuccess;
}

int silence_query(Context& context, const SilenceQuery& query) {
  Duration within{0};
  if (!query.within.empty()) {
    const auto parsed = parse_any_duration(query.within);
    if (!parsed) return context.fail(parsed.error());
    within = *parsed;
  }
  auto api = AlertmanagerApi::connect(context);
  if (!api) return context.fail(api.error());
  Params params;
  for (const std::string& matcher : with_alertname(query.matchers)) {
    params.emplace_back("filter", matcher);
  }
  auto silences = api->silences(params);
  if (!silences) return context.fail(silences.error());
  const Timestamp now = context.clock.now();
  std::erase_if(*silences, [&](const SilenceView& silence) {
    return !is_wanted(silence, query, now, within);
  });
  return print(context, std::move(*silences), query.quiet);
}

int silence_update(Context& context, const SilenceUpdate& update) {
  if (update.ids.empty()) return context.fail("no silence IDs specified");
  auto api = AlertmanagerApi::connect(context);
  if (!api) return context.fail(api.error());
  std::vector<SilenceView> updated;
  for (const std::string& id : update.ids) {
    auto silence = api->silence(id);
    if (!silence) return context.fail(silence.error());
    if (Status status = apply_times(update.times, *silence); !status.ok()) {
      return context.fail(status);
    }
    if (!update.comment.empty()) silence->comment = update.comment;
    auto new_id = api->post_silence(*silence);
    if (!new_id) return context.fail(new_id.error());
    auto now = api->silence(*new_id);  // as the server has it, for every output format
    if (!now) return context.fail(now.error());
    updated.push_back(std::move(*now));
  }
  return print(context, std::move(updated), update.quiet);
}

int silence_expire(Context& context, const std::vector<std::string>& ids) {
  if (ids.empty()) return context.fail("no silence IDs specified");
  auto api = AlertmanagerApi::connect(context);
  if (!api) return context.fail(api.error());
  for (const std::string& id : ids) {
    if (const Status status = api->expire_silence(id); !status.ok()) return context.fail(status);
  }
  return kSuccess;
}

int silence_import(Context& context, const SilenceImport& import) {
  const auto text = read_input(context, import.file);
  if (!text) return context.fail(text.error());
  auto silences = parse_silences(*text);
  if (!silences) return context.fail("couldn't unmarshal input data, is it JSON?");
  auto api = AlertmanagerApi::connect(context);
  if (!api) return context.fail(api.error());
  size_t failed = 0;
  for (SilenceView& silence : *silences) {
    const std::string old_id = silence.id;
    if (import.force) silence.id.clear();
    const auto id = import_one(*api, std::move(silence));
    if (id) {
      context.out << *id << "\n";
    } else {
      context.err << "Error adding silence id='" << old_id << "': " << id.error().message() << "\n";
      ++failed;
    }
  }
  if (failed == 0) return kSuccess;
  return context.fail("couldn't import " + std::to_string(failed) + " out of " +
                      std::to_string(silences->size()) + " silences");
}

}  // namespace vagt::cli

#include "query/script/commands.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "base/labels.h"
#include "base/number_text.h"
#include "query/parse.h"

namespace vagt::query::script {
namespace {

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

// Takes the next word off the front.
std::string_view take_word(std::string_view& rest) {
  rest = trim(rest);
  const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest = trim(rest.substr(end));
  return word;
}
bool take_word(std::string_view& rest, std::string_view wanted) {
  std::string_view copy = rest;
  if (take_word(copy) != wanted) return false;
  rest = copy;
  return true;
}

// A duration, or seconds, with a sign.
Result<Duration> take_duration(std::string_view& rest) {
  const std::string_view word = take_word(rest);
  const bool negative = !word.empty() && word[0] == '-';
  const std::string_view magnitude = negative ? word.substr(1) : word;
  Duration value{};
  if (const auto seconds = parse_number(magnitude); seconds && std::abs(*seconds) < 1e12) {
    value = Duration(std::llround(*seconds * 1000));
  } else {
    VAGT_TRY(value, parse_duration(magnitude));
  }
  return negative ? -value : value;
}
Result<Timestamp> take_time(std::string_view& rest) {
  VAGT_TRY(const Duration since_epoch, take_duration(rest));
  return Timestamp(since_epoch);
}
Status expect_word(std::string_view& rest, std::string_view wanted) {
  if (take_word(rest, wanted)) return {};
  return Status::invalid(fmt::format("expected '{}' before {}", wanted, quote(rest)));
}

Result<Grid> take_grid(std::string_view& rest) {
  Grid grid;
  VAGT_CHECK_OK(expect_word(rest, "from"));
  VAGT_TRY(grid.start, take_time(rest));
  VAGT_CHECK_OK(expect_word(rest, "to"));
  VAGT_TRY(grid.end, take_time(rest));
  VAGT_CHECK_OK(expect_word(rest, "step"));
  VAGT_TRY(grid.step, take_duration(rest));
  if (grid.step <= Duration(0) || grid.end < grid.start)
    return Status::invalid("the range is empty");
  return grid;
}

// `msg: TEXT`, `regex: TEXT`, or nothing.
Result<Pattern> parse_pattern(std::string_view rest) {
  Pattern pattern;
  rest = trim(rest);
  if (rest.empty()) return pattern;
  const size_t colon = rest.find(':');
  const std::string_view key = trim(rest.substr(0, colon));
  if (colon == std::string_view::npos || (key != "msg" && key != "regex"))
    return Status::invalid(fmt::format("expected 'msg:' or 'regex:' before {}", quote(rest)));
  pattern.any = false;
  pattern.regex = key == "regex";
  pattern.text = trim(rest.substr(colon + 1));
  return pattern;
}

Status parse_expect(std::string_view rest, EvalCommand& eval) {
  const std::string_view what = take_word(rest);
  if (what == "ordered") return eval.ordered = true, Status();
  if (what == "no_warn") return eval.no_warnings = true, Status();
  if (what == "no_info") return eval.no_infos = true, Status();
  if (what == "string") {
    VAGT_TRY(const ExprPtr literal, parse_expr(rest, ParseOptions()));
    const auto* text = std::get_if<StringLiteral>(&literal->node);
    if (text == nullptr) return Status::invalid("expected a string");
    eval.string_result = text->value;
    return {};
  }
  if (what == "range") {
    VAGT_CHECK_OK(expect_word(rest, "vector"));
    VAGT_TRY(Grid grid, take_grid(rest));
    eval.matrix_grid = grid;
    return {};
  }
  VAGT_TRY(Pattern pattern, parse_pattern(rest));
  if (what == "fail") {
    eval.fails = true;
    eval.failures.push_back(std::move(pattern));
  } else if (what == "warn") {
    eval.warnings.push_back(std::move(pattern));
  } else if (what == "info") {
    eval.infos.push_back(std::move(pattern));
  } else {
    return Status::invalid(fmt::format("cannot expect {}", quote(what)));
  }
  return {};
}

Status parse_eval_line(std::string_view line, EvalCommand& eval) {
  std::string_view rest = line;
  if (take_word(rest, "expect")) return parse_expect(rest, eval);
  if (take_word(rest, "expected_fail_message")) {
    eval.failures.push_back({std::string(rest), false, false});
    return {};
  }
  if (take_word(rest, "expected_fail_regexp")) {
    eval.failures.push_back({std::string(rest), true, false});
    return {};
  }
  if (const auto number = parse_number(line)) {
    eval.scalar = *number;
    return {};
  }
  VAGT_TRY(SeriesText series, parse_series(line));
  eval.histograms = eval.histograms || series.histograms;
  eval.series.push_back(std::move(series));
  return {};
}

Status parse_eval_head(std::string_view verb, std::string_view rest, EvalCommand& eval) {
  const std::string_view kind = verb == "eval" ? "" : verb.substr(5);
  if (kind == "fail")
    eval.fails = true;
  else if (kind == "ordered")
    eval.ordered = true;
  else if (kind == "warn")
    eval.warnings.emplace_back();
  else if (kind == "info")
    eval.infos.emplace_back();
  else if (!kind.empty())
    return Status::invalid(fmt::format("no such command: {}", quote(verb)));
  if (take_word(rest, "instant")) {
    if (take_word(rest, "at")) {
      VAGT_TRY(eval.grid.start, take_time(rest));
    }
  } else if (take_word(rest, "range")) {
    eval.instant = false;
    VAGT_TRY(eval.grid, take_grid(rest));
  } else {
    return Status::invalid("expected 'instant' or 'range'");
  }
  if (rest.empty()) return Status::invalid("no query");
  eval.query = rest;
  return {};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<Command>> run() {
    std::vector<Command> commands;
    while (next_line()) {
      if (line_.empty()) continue;
      Command command;
      command.line = number_;
      command.text = line_;
      VAGT_CHECK_OK(read(command));
      commands.push_back(std::move(command));
    }
    return commands;
  }

 private:
  // Comments count as empty: both end a block.
  bool next_line() {
    if (pos_ > text_.size()) return false;
    const size_t end = std::min(text_.find('\n', pos_), text_.size());
    line_ = trim(text_.substr(pos_, end - pos_));
    if (!line_.empty() && line_[0] == '#') line_ = {};
    pos_ = end + 1;
    ++number_;
    return true;
  }
  Status here(Status status) const { return std::move(status).at(std::to_string(number_)); }

  Status read(Command& command) {
    std::string_view rest = line_;
    const std::string_view verb = take_word(rest);
    if (verb == "clear") {
      command.what = ClearCommand();
      return {};
    }
    if (verb == "load" || verb == "load_with_nhcb") {
      Result<LoadCommand> load = read_load(rest);
      if (!load) return here(std::move(load).error());
      load->with_histograms = verb != "load";
      command.what = std::move(*load);
      return {};
    }
    if (verb.substr(0, 4) != "eval")
      return here(Status::invalid(fmt::format("no such command: {}", quote(verb))));
    EvalCommand eval;
    if (Status status = parse_eval_head(verb, rest, eval); !status.ok())
      return here(std::move(status));
    while (next_line() && !line_.empty())
      if (Status status = parse_eval_line(line_, eval); !status.ok())
        return here(std::move(status));
    command.what = std::move(eval);
    return {};
  }

  Result<LoadCommand> read_load(std::string_view rest) {
    LoadCommand load;
    VAGT_TRY(load.step, take_duration(rest));
    while (next_line() && !line_.empty()) {
      VAGT_TRY(SeriesText series, parse_series(line_));
      load.series.push_back(std::move(series));
    }
    return load;
  }

  const std::string_view text_;
  size_t pos_ = 0, number_ = 0;
  std::string_view line_;
};

}  // namespace

Result<std::vector<Command>> parse_commands(std::string_view text) { return Reader(text).run(); }

}  // namespace vagt::query::script

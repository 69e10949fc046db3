// A script, line by line, as commands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "query/script/series_text.h"

namespace vagt::query::script {

struct ClearCommand {};
struct LoadCommand {
  Duration step{};
  bool with_histograms = false;  // load_with_nhcb: each classic histogram also as a native one
  std::vector<SeriesText> series;
};

// What an annotation or error must be.
struct Pattern {
  std::string text;
  bool regex = false;
  bool any = true;  // neither a message nor a pattern was given
};
struct Grid {
  Timestamp start{}, end{};
  Duration step{};
};
struct EvalCommand {
  std::string query;
  bool instant = true;
  Grid grid;  // instant: start only
  bool fails = false, ordered = false;
  bool no_warnings = false, no_infos = false;
  std::vector<Pattern> failures, warnings, infos;
  std::optional<std::string> string_result;
  std::optional<Grid> matrix_grid;  // an instant query whose result is a range vector
  std::optional<double> scalar;
  std::vector<SeriesText> series;
  bool histograms = false;  // some expected value is a native histogram
};

struct Command {
  size_t line = 0;   // from 1
  std::string text;  // the first line
  std::variant<ClearCommand, LoadCommand, EvalCommand> what;
};

// InvalidArgument: "LINE: …".
Result<std::vector<Command>> parse_commands(std::string_view text);

}  // namespace vagt::query::script

// A replayed alert as a unit test of its rule. Inside cli only.
#pragma once

#include <string>

#include "base/status.h"
#include "cli/context.h"
#include "rules/replay/replay_result.h"

namespace vagt::cli {

struct ExportedTest {
  std::string url;    // the server that has the series
  std::string alert;  // "": the first of all
  std::string file;   // to be written
};
// Writes a file for `test rules` (and promtool's): the series that the alert's rule reads, sampled
// at the instants of its evaluations, and what fires before, at and after the alert. The rule's
// file must be readable here. NotFound: no such alert. InvalidArgument: on the sampled series the
// alert does not fire.
Status export_test(Context& context, const rules::Replay& replay, const ExportedTest& test);

}  // namespace vagt::cli

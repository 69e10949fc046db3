// The answer of POST /api/v1/rules/replay. Inside cli only.
#pragma once

#include <boost/json/value.hpp>
#include <optional>

#include "base/status.h"
#include "rules/replay/replay_result.h"

namespace vagt::cli {

struct ReplayAnswer {
  rules::Replay replay;
  std::optional<rules::Replay> against;
};
// Unavailable: the answer has another shape; the message says where.
Result<ReplayAnswer> read_replay_answer(const boost::json::value& data);

}  // namespace vagt::cli

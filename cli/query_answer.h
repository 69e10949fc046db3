// Answers of the query API as people read them. Inside cli only.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "base/status.h"

namespace vagt::cli {

// `data` of an answer of /api/v1/query or query_range, worded as promtool does, without the last
// line end. Like the others here Unavailable, with the place, when it does not have the shape of
// such an answer: half of it, printed, would look like a value.
Result<std::string> answer_text(const boost::json::value& data);
// `data` of /api/v1/series, a line each.
Result<std::string> series_text(const boost::json::value& data);
// `data` of /api/v1/label/NAME/values, a line each.
Result<std::string> values_text(const boost::json::value& data);

}  // namespace vagt::cli

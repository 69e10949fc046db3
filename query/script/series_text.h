// Series lines of scripts: `metric{label="value"} 1 2+3x4 _ stale`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/status.h"

namespace vagt::query::script {

struct SeriesText {
  Labels labels;
  std::vector<std::optional<double>> values;  // nullopt: no sample
  bool histograms = false;                    // has {{…}} values, which are left out
  bool start_timestamps = false;              // an @st line
};

// InvalidArgument says what is wrong; more than `max_values` values are refused.
Result<SeriesText> parse_series(std::string_view line, size_t max_values = 100'000);
// A number as scripts spell it: 1, -2.5e3, Inf, NaN, 1_000.
std::optional<double> parse_number(std::string_view text);

}  // namespace vagt::query::script

// Prints metric families as text: /federate, /metrics of tools, the agent's page.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/time.h"
#include "exposition/parse.h"

namespace vagt::exposition {

struct WrittenSample {
  std::string name;  // with its suffix: "h_bucket"
  Labels labels;     // __name__ in it is left out
  double value = 0;
  std::optional<Timestamp> at;
};
struct Family {
  std::string name;
  MetricType type = MetricType::Unknown;
  std::string help, unit;  // "": not printed
  bool print_type = true;
  std::vector<WrittenSample> samples;
};

// What a page in `format` is served as.
std::string_view content_type(Format format);

// Appends one family: HELP, TYPE (and UNIT in OpenMetrics), samples. Names beyond [a-zA-Z_:] are
// quoted.
void write_family(std::string& out, const Family& family, Format format);
// All families; OpenMetrics ends in `# EOF`.
std::string write_page(std::span<const Family> families, Format format);
// `name{a="b"}`, for callers that print samples themselves.
void write_series(std::string& out, std::string_view name, const Labels& labels);

}  // namespace vagt::exposition

// vagtctl check metrics: a page on standard input, parsed and compared with the naming conventions.
#pragma once

#include "cli/context.h"

namespace vagt::cli {

struct CheckMetrics {
  bool extended = false;  // a table of the largest families
};
int check_metrics(Context& context, const CheckMetrics& check);

}  // namespace vagt::cli

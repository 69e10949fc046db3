// Prometheus's humanize family: numbers for people.
#pragma once

#include <string>

#include "base/status.h"
#include "template/go_time.h"

namespace vagt::tmpl {

std::string humanize(double v);      // 1234567 is "1.235M"
std::string humanize1024(double v);  // 1048576 is "1Mi"
std::string humanize_duration(double seconds);
std::string humanize_percentage(double v);
// InvalidArgument: NaN, infinite, or beyond what nanoseconds since 1970 hold.
Result<GoTime> float_to_time(double seconds);

}  // namespace vagt::tmpl

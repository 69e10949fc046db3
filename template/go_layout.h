// Go's reference-time layouts: splitting, printing, parsing.
#pragma once

#include <string>
#include <string_view>

#include "template/go_time.h"

namespace vagt::tmpl {

struct LayoutFields {
  int64_t year = 1;
  int month = 1, day = 1, hour = 0, minute = 0, second = 0;  // in the time's own zone
  int weekday = 0;                                           // 0: Sunday
  int year_day = 1;
};

LayoutFields split_time(const GoTime& t);
std::string_view month_name(int month);      // 1: "January"
std::string_view weekday_name(int weekday);  // 0: "Sunday"
// Overflowing days and months carry over, as Go's AddDate does.
GoTime add_date(const GoTime& t, int64_t years, int64_t months, int64_t days);

std::string format_layout(const GoTime& t, std::string_view layout);
Result<GoTime> parse_layout(std::string_view layout, std::string_view text);

}  // namespace vagt::tmpl

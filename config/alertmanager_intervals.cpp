// time_intervals and mute_time_intervals.
#include <fmt/core.h>

#include <algorithm>

#include "config/alertmanager_sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;
using notify::IntRange;

// A list of ranges in one of the spellings of mute_time.h.
template <class Parse>
Status read_ranges(const YamlNode* node, Parse parse, std::vector<IntRange>& out) {
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_sequence()) return node->error("expected a list of ranges");
  for (const YamlNode& item : node->items()) {
    VAGT_TRY(std::string text, item.as_string());
    auto range = parse(text);
    if (!range.ok()) return item.error(range.error().message());
    out.push_back(*range);
  }
  return {};
}

Status read_times(const YamlNode* node, std::vector<notify::MinuteRange>& out) {
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_sequence()) return node->error("times must be a list");
  for (const YamlNode& item : node->items()) {
    std::string start, end;
    YamlFields fields(item);
    fields.read("start_time", start).read("end_time", end);
    VAGT_CHECK_OK(fields.finish("timeinterval.yamlTimeRange"));
    auto range = notify::parse_time_range(start, end);
    if (!range.ok()) return item.error(range.error().message());
    out.push_back(*range);
  }
  return {};
}

Status read_interval(const YamlNode& node, notify::TimeInterval& out) {
  YamlFields fields(node);
  fields.read("location", out.location);
  fields.fail(read_times(fields.take("times"), out.times));
  fields.fail(read_ranges(fields.take("weekdays"), notify::parse_weekday_range, out.weekdays));
  fields.fail(read_ranges(fields.take("days_of_month"), notify::parse_day_of_month_range,
                          out.days_of_month));
  fields.fail(read_ranges(fields.take("months"), notify::parse_month_range, out.months));
  fields.fail(read_ranges(fields.take("years"), notify::parse_year_range, out.years));
  VAGT_CHECK_OK(fields.finish("timeinterval.TimeInterval"));
  if (Status status = notify::check_location(out.location); !status.ok()) {
    return node.find("location")->error(status.message());
  }
  return {};
}

}  // namespace

Status read_time_intervals(const YamlNode& node, std::string_view kind,
                           std::vector<notify::NamedTimeInterval>& out) {
  if (node.is_null()) return {};
  if (!node.is_sequence()) return node.error("expected a list of time intervals");
  for (const YamlNode& item : node.items()) {
    notify::NamedTimeInterval named;
    YamlFields fields(item);
    fields.read("name", named.name);
    const YamlNode* intervals = fields.take("time_intervals");
    VAGT_CHECK_OK(fields.finish("config.plain"));
    if (named.name.empty()) return item.error("missing name in time interval");
    const auto same = [&](const auto& other) { return other.name == named.name; };
    if (std::any_of(out.begin(), out.end(), same)) {
      return item.error(fmt::format("{} {} is not unique", kind, quote(named.name)));
    }
    if (intervals != nullptr && !intervals->is_null()) {
      if (!intervals->is_sequence()) return intervals->error("time_intervals must be a list");
      for (const YamlNode& part : intervals->items()) {
        VAGT_CHECK_OK(read_interval(part, named.intervals.emplace_back()));
      }
    }
    out.push_back(std::move(named));
  }
  return {};
}

}  // namespace vagt::config

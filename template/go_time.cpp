#include "template/go_time.h"

#include <date/tz.h>
#include <fmt/core.h>

#include <array>

#include "base/labels.h"
#include "template/go_layout.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

using std::chrono::nanoseconds;

class TimeObject final : public TemplateObject {
 public:
  explicit TimeObject(GoTime t) : time_(std::move(t)) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    Result<TemplateValue> value = call_time(time_, name, {});
    return value ? std::make_unique<TemplateValue>(std::move(*value)) : nullptr;
  }
  Result<TemplateValue> call(std::string_view name,
                             std::span<const TemplateValue> args) const override {
    return call_time(time_, name, args);
  }
  std::string type_name() const override { return "time.Time"; }
  std::string print() const override { return time_.to_string(); }
  const GoTime& time() const { return time_; }

 private:
  GoTime time_;
};

std::optional<nanoseconds> duration_of(const TemplateValue& value) {
  if (const auto* d = get_if<nanoseconds>(value)) return *d;
  if (const auto* n = get_if<int64_t>(value)) return nanoseconds(*n);
  if (const auto* f = get_if<double>(value);
      f != nullptr && *f == static_cast<double>(static_cast<int64_t>(*f))) {
    return nanoseconds(static_cast<int64_t>(*f));
  }
  return std::nullopt;
}

Status no_method(std::string_view type, std::string_view name) {
  return Status::not_found(fmt::format("can't evaluate field {} in type {}", name, type));
}

// The difference of two times, at Go's limits.
nanoseconds difference(const GoTime& a, const GoTime& b) {
  const auto exact =
      static_cast<__int128>(a.seconds - b.seconds) * 1'000'000'000 + (a.nanos - b.nanos);
  if (exact > nanoseconds::max().count()) return nanoseconds::max();
  if (exact < nanoseconds::min().count()) return nanoseconds::min();
  return nanoseconds(static_cast<int64_t>(exact));
}

using Args = std::span<const TemplateValue>;

Result<TemplateValue> call_without_args(const GoTime& t, std::string_view name) {
  const LayoutFields f = split_time(t);
  if (name == "Year") return TemplateValue(f.year);
  if (name == "Month") return TemplateValue(std::string(month_name(f.month)));
  if (name == "Day") return TemplateValue(int64_t{f.day});
  if (name == "Hour") return TemplateValue(int64_t{f.hour});
  if (name == "Minute") return TemplateValue(int64_t{f.minute});
  if (name == "Second") return TemplateValue(int64_t{f.second});
  if (name == "Nanosecond") return TemplateValue(int64_t{t.nanos});
  if (name == "YearDay") return TemplateValue(int64_t{f.year_day});
  if (name == "Weekday") return TemplateValue(std::string(weekday_name(f.weekday)));
  if (name == "Unix") return TemplateValue(t.seconds);
  if (name == "UnixMilli") return TemplateValue(t.seconds * 1000 + t.nanos / 1'000'000);
  if (name == "UnixMicro") return TemplateValue(t.seconds * 1'000'000 + t.nanos / 1000);
  if (name == "UnixNano") return TemplateValue(t.seconds * 1'000'000'000 + t.nanos);
  if (name == "IsZero") return TemplateValue(t.is_zero());
  if (name == "String") return TemplateValue(t.to_string());
  if (name == "UTC" || name == "Local") return make_time(t.utc());
  if (name == "Location") return TemplateValue(t.zone);
  return no_method("time.Time", name);
}

Result<TemplateValue> compare_times(const GoTime& t, std::string_view name, const GoTime& other) {
  const auto a = std::pair(t.seconds, t.nanos), b = std::pair(other.seconds, other.nanos);
  if (name == "Before") return TemplateValue(a < b);
  if (name == "After") return TemplateValue(a > b);
  if (name == "Equal") return TemplateValue(a == b);
  if (name == "Compare") return TemplateValue(int64_t{a < b ? -1 : a > b ? 1 : 0});
  return TemplateValue(difference(t, other));  // Sub
}

Result<TemplateValue> round_time(const GoTime& t, nanoseconds d, bool round) {
  if (d.count() <= 0) return make_time(t);
  // Go counts from year 1.
  const auto since = static_cast<__int128>(t.seconds + 62135596800) * 1'000'000'000 + t.nanos;
  const auto rest = static_cast<int64_t>(since % d.count());
  const bool up = round && rest + rest >= d.count();
  return make_time(t.add(nanoseconds(up ? d.count() - rest : -rest)));
}

}  // namespace

GoTime GoTime::from(Timestamp t) {
  const int64_t ms = to_millis(t);
  const int64_t seconds = ms >= 0 ? ms / 1000 : -((999 - ms) / 1000);
  return {seconds, static_cast<int32_t>(ms - seconds * 1000) * 1'000'000, 0, "UTC"};
}

Timestamp GoTime::to_timestamp() const { return from_millis(seconds * 1000 + nanos / 1'000'000); }

std::string GoTime::format(std::string_view layout) const { return format_layout(*this, layout); }
std::string GoTime::to_string() const { return format("2006-01-02 15:04:05.999999999 -0700 MST"); }
std::string GoTime::to_rfc3339() const { return format("2006-01-02T15:04:05.999999999Z07:00"); }

GoTime GoTime::add(nanoseconds d) const {
  GoTime out = *this;
  out.seconds += d.count() / 1'000'000'000;
  const int64_t total = nanos + d.count() % 1'000'000'000;
  const int64_t carry = total < 0 ? -1 : total >= 1'000'000'000 ? 1 : 0;
  out.seconds += carry;
  out.nanos = static_cast<int32_t>(total - carry * 1'000'000'000);
  return out;
}

GoTime GoTime::utc() const { return {seconds, nanos, 0, "UTC"}; }

Result<GoTime> parse_rfc3339_time(std::string_view text) {
  return parse_layout("2006-01-02T15:04:05Z07:00", text);
}
Result<GoTime> parse_go_time(std::string_view layout, std::string_view text) {
  return parse_layout(layout, text);
}

Result<GoTime> in_zone(const GoTime& t, const std::string& zone) {
  if (zone.empty() || zone == "UTC") return t.utc();
  try {
    const date::time_zone* found = date::locate_zone(zone == "Local" ? "Etc/UTC" : zone);
    const auto info = found->get_info(date::sys_seconds(std::chrono::seconds(t.seconds)));
    return GoTime{t.seconds, t.nanos, static_cast<int32_t>(info.offset.count()), info.abbrev};
  } catch (const std::exception&) {
    return Status::not_found("unknown time zone " + zone);
  }
}

TemplateValue make_time(GoTime t) {
  return TemplateValue(
      std::shared_ptr<const TemplateObject>(std::make_shared<TimeObject>(std::move(t))));
}

std::optional<GoTime> time_of(const TemplateValue& value) {
  if (const auto* t = get_if<Timestamp>(value)) return GoTime::from(*t);
  const auto* object = get_if<std::shared_ptr<const TemplateObject>>(value);
  const auto* time = object == nullptr ? nullptr : dynamic_cast<const TimeObject*>(object->get());
  if (time == nullptr) return std::nullopt;
  return time->time();
}

Result<TemplateValue> call_time(const GoTime& t, std::string_view name, Args args) {
  if (args.empty()) return call_without_args(t, name);
  if (args.size() == 3 && name == "AddDate") {
    std::array<int64_t, 3> by{};
    for (size_t i = 0; i < 3; ++i) {
      const auto* n = get_if<int64_t>(args[i]);
      if (n == nullptr) return wrong_type("int", args[i]);
      by[i] = *n;
    }
    return make_time(add_date(t, by[0], by[1], by[2]));
  }
  if (args.size() != 1) return wrong_count(name, "1", args.size());
  if (name == "Format") {
    const std::string* layout = as_text(args[0]);
    if (layout == nullptr) return wrong_type("string", args[0]);
    return TemplateValue(t.format(*layout));
  }
  if (name == "Add" || name == "Round" || name == "Truncate") {
    const auto d = duration_of(args[0]);
    if (!d) return wrong_type("time.Duration", args[0]);
    if (name == "Add") return make_time(t.add(*d));
    return round_time(t, *d, name == "Round");
  }
  if (name == "Before" || name == "After" || name == "Equal" || name == "Compare" ||
      name == "Sub") {
    const auto other = time_of(args[0]);
    if (!other) return wrong_type("time.Time", args[0]);
    return compare_times(t, name, *other);
  }
  return no_method("time.Time", name);
}

Result<TemplateValue> call_duration(nanoseconds d, std::string_view name, Args args) {
  const auto count = static_cast<double>(d.count());
  if (name == "Hours") return TemplateValue(count / 3.6e12);
  if (name == "Minutes") return TemplateValue(count / 6e10);
  if (name == "Seconds") return TemplateValue(count / 1e9);
  if (name == "Milliseconds") return TemplateValue(d.count() / 1'000'000);
  if (name == "Microseconds") return TemplateValue(d.count() / 1000);
  if (name == "Nanoseconds") return TemplateValue(int64_t{d.count()});
  if (name == "String") return TemplateValue(format_go_duration(d));
  if (name == "Abs") return TemplateValue(d.count() < 0 ? -d : d);
  if (name != "Round" && name != "Truncate") return no_method("time.Duration", name);
  if (args.size() != 1) return wrong_count(name, "1", args.size());
  const auto unit = duration_of(args[0]);
  if (!unit) return wrong_type("time.Duration", args[0]);
  if (unit->count() <= 0) return TemplateValue(d);
  const nanoseconds rest = d % *unit;
  const nanoseconds down = d - rest;
  const bool away = name == "Round" && (rest.count() < 0 ? -rest : rest) * 2 >= *unit;
  return TemplateValue(!away ? down : rest.count() < 0 ? down - *unit : down + *unit);
}

}  // namespace vagt::tmpl

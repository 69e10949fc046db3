#include "template/humanize.h"

#include <fmt/core.h>

#include <cmath>

#include "template/value.h"

namespace vagt::tmpl {
namespace {

std::string four_digits(double v) {
  const TemplateValue args[] = {v};
  return sprintf_go("%.4g", args);
}

}  // namespace

std::string humanize(double v) {
  if (v == 0 || std::isnan(v) || std::isinf(v)) return four_digits(v);
  std::string_view prefix;
  if (std::abs(v) >= 1) {
    for (const std::string_view p : {"k", "M", "G", "T", "P", "E", "Z", "Y"}) {
      if (std::abs(v) < 1000) break;
      prefix = p;
      v /= 1000;
    }
    return four_digits(v) + std::string(prefix);
  }
  for (const std::string_view p : {"m", "u", "n", "p", "f", "a", "z", "y"}) {
    if (std::abs(v) >= 1) break;
    prefix = p;
    v *= 1000;
  }
  return four_digits(v) + std::string(prefix);
}

std::string humanize1024(double v) {
  if (std::abs(v) <= 1 || std::isnan(v) || std::isinf(v)) return four_digits(v);
  std::string_view prefix;
  for (const std::string_view p : {"ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"}) {
    if (std::abs(v) < 1024) break;
    prefix = p;
    v /= 1024;
  }
  return four_digits(v) + std::string(prefix);
}

std::string humanize_duration(double v) {
  if (std::isnan(v) || std::isinf(v)) return four_digits(v);
  if (v == 0) return "0s";
  if (std::abs(v) >= 1) {
    const char* const sign = v < 0 ? "-" : "";
    const double magnitude = std::abs(v);
    if (magnitude > 9e18) return sign + fmt::format("{}d", four_digits(magnitude / 86400));
    const auto duration = static_cast<int64_t>(magnitude);
    const int64_t seconds = duration % 60, minutes = duration / 60 % 60,
                  hours = duration / 3600 % 24;
    const int64_t days = duration / 86400;
    if (days != 0) return fmt::format("{}{}d {}h {}m {}s", sign, days, hours, minutes, seconds);
    if (hours != 0) return fmt::format("{}{}h {}m {}s", sign, hours, minutes, seconds);
    if (minutes != 0) return fmt::format("{}{}m {}s", sign, minutes, seconds);
    // Below a minute the fraction matters.
    return sign + four_digits(magnitude) + "s";
  }
  std::string_view prefix;
  for (const std::string_view p : {"m", "u", "n", "p", "f", "a", "z", "y"}) {
    if (std::abs(v) >= 1) break;
    prefix = p;
    v *= 1000;
  }
  return four_digits(v) + std::string(prefix) + "s";
}

std::string humanize_percentage(double v) { return four_digits(v * 100) + "%"; }

Result<GoTime> float_to_time(double v) {
  if (std::isnan(v) || std::isinf(v)) return Status::invalid("value is NaN or Inf");
  const double nanos = v * 1e9;
  if (nanos > 9223372036854775807.0 || nanos < -9223372036854775808.0) {
    return Status::invalid(
        format_go_float(v) +
        " cannot be represented as a nanoseconds timestamp since it overflows int64");
  }
  const auto total = static_cast<int64_t>(nanos);
  return GoTime{0, 0, 0, "UTC"}.add(std::chrono::nanoseconds(total));
}

}  // namespace vagt::tmpl

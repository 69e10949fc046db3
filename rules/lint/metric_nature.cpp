#include "rules/lint/metric_nature.h"

#include <algorithm>
#include <array>

namespace vagt::rules {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Bounds kPositive{0, kInfinity}, kFlag{0, 1}, kPercent{0, 100};

bool ends_with_any(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

MetricNature counter() { return {.type = MetricType::Counter, .values = kPositive}; }
MetricNature gauge(Bounds values = {}) { return {.type = MetricType::Gauge, .values = values}; }

// DCGM fields whose names do not say what they are; docs.nvidia.com, "Field Identifiers".
MetricNature dcgm(std::string_view name) {
  using namespace std::string_view_literals;
  name.remove_prefix("DCGM_FI_"sv.size());
  if (name == "DEV_XID_ERRORS") {
    return {.type = MetricType::LastValue, .values = kPositive, .is_born_counting = true};
  }
  if (name == "DEV_GPU_TEMP" || name == "DEV_MEMORY_TEMP") {
    MetricNature nature = gauge({-50, 200});
    nature.is_per_product = true;
    return nature;
  }
  if (name == "DEV_POWER_USAGE") {
    MetricNature nature = gauge(kPositive);
    nature.is_per_product = true;
    return nature;
  }
  if (ends_with_any(name, {"_UTIL"})) {
    MetricNature nature = gauge(kPercent);
    nature.is_noisy = true;
    return nature;
  }
  if (name == "DEV_FB_USED") {
    MetricNature nature = gauge(kPositive);
    nature.is_allocation = true;
    return nature;
  }
  if (starts_with_any(name, {"PROF_"})) {
    return gauge(name.ends_with("_BYTES") ? kPositive : kFlag);
  }
  if (ends_with_any(name, {"ROW_REMAP_PENDING", "ROW_REMAP_FAILURE"})) return gauge(kFlag);
  if (ends_with_any(name, {"_TEMP", "_CLOCK"}) || starts_with_any(name, {"DEV_FB_"}))
    return gauge(kPositive);
  if (ends_with_any(name, {"_VIOLATION", "_REPLAY_COUNTER", "_TOTAL", "_TOTAL_ENERGY_CONSUMPTION",
                           "_REMAPPED_ROWS"})) {
    MetricNature nature = counter();
    nature.is_off_by_default = name.ends_with("_VIOLATION");
    nature.is_reset_by_repair = name.ends_with("_DBE_VOL_TOTAL");
    return nature;
  }
  return {};
}

bool is_instant(std::string_view name) {
  return ends_with_any(name, {"_timestamp_seconds", "_timestamp", "_start_time_seconds",
                              "_boot_time_seconds", "_start_time", "_created",
                              "_earliest_cert_expiry", "_not_after", "_not_before"}) ||
         name == "node_time_seconds";
}

bool is_counter_by_name(std::string_view name) {
  // "_count" alone may be a level: connections, pending requests.
  return ends_with_any(name, {"_total", "_seconds_count", "_bytes_count", "_sum", "_bucket"}) ||
         starts_with_any(name, {"node_vmstat_", "node_netstat_Tcp", "node_netstat_Ip",
                                "node_netstat_Udp", "node_netstat_Icmp"});
}

MetricNature by_convention(std::string_view name) {
  if (name.starts_with("DCGM_FI_")) return dcgm(name);
  if (is_instant(name)) return {.type = MetricType::Timestamp, .values = kPositive};
  if (name == "node_netstat_Tcp_CurrEstab") return gauge(kPositive);
  if (is_counter_by_name(name)) {
    MetricNature nature = counter();
    nature.is_born_counting = ends_with_any(name, {"_by_device_total", "sxid_errors_total"});
    // Names of request durations that last as long as the answer is long.
    nature.is_whole_request = name.find("e2e_request_latency_seconds") != std::string_view::npos ||
                              name.find("request_inference_time") != std::string_view::npos;
    return nature;
  }
  if (name == "up" || ends_with_any(name, {"_up", "_info", "probe_success", "collector_success"}))
    return gauge(kFlag);
  if (ends_with_any(name, {"_ratio"})) return gauge({});
  if (ends_with_any(name, {"_celsius", "_volts", "_amperes"})) return gauge({});
  if (ends_with_any(name, {"_percent"})) return gauge({});
  if (ends_with_any(name, {"num_requests_waiting", "num_requests_running", "num_queue_reqs",
                           "num_running_reqs", "requests_processing", "requests_deferred"})) {
    MetricNature nature = gauge(kPositive);
    nature.is_noisy = true;
    return nature;
  }
  if (starts_with_any(name, {"node_memory_", "node_filesystem_", "node_load", "node_hwmon_"}) ||
      ends_with_any(name, {"_watts", "_rpm", "_available_bytes", "_free_bytes", "_size_bytes",
                           "_usage_bytes", "_limit_bytes"})) {
    return gauge(name.find("temp") == std::string_view::npos ? kPositive : Bounds{});
  }
  return {};
}

}  // namespace

MetricNature MetricCatalog::nature_of(std::string_view name) const {
  MetricNature nature = by_convention(name);
  const auto known = types_.find(name);
  if (known == types_.end()) return nature;
  const bool is_gauge = nature.type != MetricType::Unknown && nature.type != MetricType::Counter;
  if (known->second == "counter" && nature.type != MetricType::Counter) {
    nature.type = MetricType::Counter;
    nature.values = kPositive;
  } else if (known->second == "gauge" && !is_gauge) {
    nature.type = MetricType::Gauge;
  }
  return nature;
}

}  // namespace vagt::rules

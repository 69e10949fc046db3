// One scrape job as the configuration has it. config/ fills these structs from YAML.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "exposition/negotiate.h"
#include "net/http_client.h"
#include "scrape/relabel.h"

namespace vagt::scrape {

// Targets that came from one place, with labels they share.
struct TargetGroup {
  std::vector<std::map<std::string, std::string>> targets;  // each with at least __address__
  std::map<std::string, std::string> labels;
  std::string source;  // unique within the job: "static/0", "/etc/prometheus/targets/gpu.json:1"
  friend bool operator==(const TargetGroup&, const TargetGroup&) = default;
};

struct FileDiscoveryConfig {
  std::vector<std::string> files;  // globs in the last path element, absolute
  Duration refresh_interval = std::chrono::minutes(5);
  friend bool operator==(const FileDiscoveryConfig&, const FileDiscoveryConfig&) = default;
};

// A URL that answers a JSON list of target groups.
struct HttpDiscoveryConfig {
  std::string url;
  Duration refresh_interval = std::chrono::minutes(1);
  net::HttpClientConfig http;
  std::string fingerprint;  // the section as text, as ScrapeConfig has it
  friend bool operator==(const HttpDiscoveryConfig& a, const HttpDiscoveryConfig& b) {
    return a.url == b.url && a.fingerprint == b.fingerprint;
  }
};

// Every way a job finds its targets.
struct DiscoveryConfig {
  std::vector<TargetGroup> static_groups;
  std::vector<FileDiscoveryConfig> files;
  std::vector<HttpDiscoveryConfig> http;
  // Kinds accepted but not run, as "consul_sd_configs": shown as an error of the pool.
  std::vector<std::string> unsupported;
  friend bool operator==(const DiscoveryConfig&, const DiscoveryConfig&) = default;
};

// 0 is "no limit" throughout, as in Prometheus.
struct ScrapeLimits {
  uint64_t body_size_bytes = 0;
  uint64_t samples = 0;             // after metric relabelling
  uint64_t targets = 0;             // of the job; more fail all of them
  uint64_t labels = 0;              // per sample
  uint64_t label_name_length = 0;   // bytes
  uint64_t label_value_length = 0;  // bytes
  uint64_t kept_dropped_targets = 0;
  friend bool operator==(const ScrapeLimits&, const ScrapeLimits&) = default;
};

struct ScrapeConfig {
  std::string job_name;
  Duration interval = std::chrono::minutes(1);
  Duration timeout = std::chrono::seconds(10);
  std::string metrics_path = "/metrics";
  std::string scheme = "http";
  std::vector<std::pair<std::string, std::vector<std::string>>> params;  // query string, by name
  bool honor_labels = false;
  bool honor_timestamps = true;
  bool track_timestamps_staleness = false;
  bool enable_compression = true;
  bool extra_scrape_metrics = false;
  // Accepted; native histograms travel by protobuf only, which is not spoken.
  bool scrape_native_histograms = false, always_scrape_classic_histograms = false;
  bool convert_classic_histograms_to_nhcb = false;
  uint64_t native_histogram_bucket_limit = 0;
  double native_histogram_min_bucket_factor = 0;
  std::vector<exposition::Protocol> protocols = {
      exposition::Protocol::OpenMetricsText100, exposition::Protocol::OpenMetricsText001,
      exposition::Protocol::PrometheusText100, exposition::Protocol::PrometheusText004};
  std::optional<exposition::Protocol> fallback_protocol;
  NameScheme name_scheme = NameScheme::Utf8;
  exposition::Escaping escaping = exposition::Escaping::AllowUtf8;
  std::string failure_log_file;
  ScrapeLimits limits;
  net::HttpClientConfig http;
  DiscoveryConfig discovery;
  std::vector<RelabelConfig> relabel, metric_relabel;
  // The whole section as text with its secrets: two jobs with equal text are the same to a reload.
  // Not for display.
  std::string fingerprint;
};

}  // namespace vagt::scrape

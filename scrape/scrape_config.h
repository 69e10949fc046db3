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
#include "scrape/discovery_config.h"
#include "scrape/relabel.h"

namespace vagt::scrape {

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

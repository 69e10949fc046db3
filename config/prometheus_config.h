// The whole of prometheus.yml as structs: load, validate, print.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/labels.h"
#include "base/secret.h"
#include "base/status.h"
#include "base/time.h"
#include "net/http_client.h"
#include "scrape/scrape_config.h"

namespace vagt::config {

struct GlobalConfig {
  Duration scrape_interval = std::chrono::minutes(1);
  Duration scrape_timeout = std::chrono::seconds(10);  // the interval where that is shorter
  Duration evaluation_interval = std::chrono::minutes(1);
  Duration rule_query_offset{0};
  Labels external_labels;  // $VAR and ${VAR} expanded from the environment, $$ is $
  std::string query_log_file, scrape_failure_log_file;
};

// One `alertmanagers:` section.
struct AlertmanagerTarget {
  std::string scheme = "http", path_prefix = "/", api_version = "v2";
  Duration timeout = std::chrono::seconds(10);
  net::HttpClientConfig http;
  scrape::DiscoveryConfig discovery;
  std::vector<scrape::RelabelConfig> relabel;        // of discovered Alertmanagers
  std::vector<scrape::RelabelConfig> alert_relabel;  // of a copy of each alert sent there
};
struct AlertingConfig {
  std::vector<scrape::RelabelConfig> alert_relabel;
  std::vector<AlertmanagerTarget> alertmanagers;
};

struct StorageConfig {
  Duration out_of_order_time_window{0};
  std::optional<Duration> retention_time;  // unset: the flag decides
  std::optional<uint64_t> retention_size_bytes;
  std::optional<double> retention_percentage;
  double stale_series_compaction_threshold = 0;
  std::string chunk_encoding_floats;  // "", "xor", "xor2": shown, without effect here
  uint64_t max_exemplars = 100'000;
};

struct RemoteQueueConfig {
  int64_t capacity = 10'000, max_shards = 50, min_shards = 1, max_samples_per_send = 2'000;
  Duration batch_send_deadline = std::chrono::seconds(5);
  Duration min_backoff = std::chrono::milliseconds(30), max_backoff = std::chrono::seconds(5);
  bool retry_on_rate_limit = false;
  Duration sample_age_limit{0};
};
struct RemoteWriteConfig {
  Secret url;
  std::string name, protobuf_message = "prometheus.WriteRequest";
  Duration timeout = std::chrono::seconds(30);
  std::map<std::string, std::string> headers;
  bool send_exemplars = false, send_native_histograms = false, round_robin_dns = false;
  std::vector<scrape::RelabelConfig> write_relabel;
  RemoteQueueConfig queue;
  bool metadata_send = true;
  Duration metadata_send_interval = std::chrono::minutes(1);
  int64_t metadata_max_samples_per_send = 2'000;
  net::HttpClientConfig http;
};
struct RemoteReadConfig {
  Secret url;
  std::string name;
  Duration timeout = std::chrono::minutes(1);
  int64_t chunked_read_limit = 50'000'000;
  std::map<std::string, std::string> headers, required_matchers;
  bool read_recent = false, filter_external_labels = true;
  net::HttpClientConfig http;
};
struct OtlpConfig {
  bool promote_all_resource_attributes = false;
  std::vector<std::string> promote_resource_attributes, ignore_resource_attributes;
  std::string translation_strategy = "UnderscoreEscapingWithSuffixes";
  bool keep_identifying_resource_attributes = false, convert_histograms_to_nhcb = false;
  bool promote_scope_metadata = false, label_name_underscore_sanitization = true;
  bool label_name_preserve_multiple_underscores = true;
};

struct PrometheusConfig {
  GlobalConfig global;
  std::vector<std::string> rule_files;  // globs, absolute; empty matches are fine
  std::vector<std::string>
      scrape_config_files;  // globs as resolved; their jobs are in `scrape_configs`
  std::vector<scrape::ScrapeConfig> scrape_configs;
  AlertingConfig alerting;
  StorageConfig storage;
  std::vector<RemoteWriteConfig> remote_write;
  std::vector<RemoteReadConfig> remote_read;
  OtlpConfig otlp;
  std::string notify_file;  // ours: an alertmanager.yml, absolute; "" when not set
  std::string text;         // what /api/v1/status/config shows: the source with secrets masked
  // What was accepted but has no effect here, each with its place: "prometheus.yml:12:3:
  // remote_write is …".
  std::vector<std::string> notices;
};

struct LoadOptions {
  bool agent_mode = false;  // refuses alerting, rule_files and remote_read
};

// Reads, checks and completes a configuration. Errors begin with file:line:column and contain
// Prometheus's complaint; files it names (credentials, rules) are not opened, scrape_config_files
// are.
Result<PrometheusConfig> load_prometheus_config(const std::string& path,
                                                const LoadOptions& options = {});
// The same for text; relative paths are taken from the folder of `path`.
Result<PrometheusConfig> parse_prometheus_config(std::string_view text, const std::string& path,
                                                 const LoadOptions& options = {});

// Files that the globs name now, sorted, each once.
std::vector<std::string> expand_globs(const std::vector<std::string>& globs);

}  // namespace vagt::config

// vagtd's command line: Prometheus's flags, Alertmanager's where it plays a plain Alertmanager, and
// a few of ours.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::engine {

struct Flags {
  // What was loaded and how: at least one of the two is set.
  std::string config_file;          // --config.file; "" in plain Alertmanager mode
  std::string alertmanager_config;  // --alertmanager.config; "" when there is none

  std::vector<std::string> listen_addresses{":9090"};
  std::string external_url;     // without a slash at the end; "" is guessed from host name and port
  std::string route_prefix;     // "/prom", no slash at the end; "": none
  std::string web_config_file;  // "": plain HTTP for everyone
  std::string page_title = "vagt";
  std::string cors_origin = ".*";
  Duration read_timeout = std::chrono::minutes(5);
  int64_t max_connections = 512;
  bool enable_lifecycle = false;
  bool enable_admin_api = false;
  bool enable_remote_write_receiver = false;
  int64_t max_import_bytes =
      512 << 20;  // --web.max-import-bytes: one body of /api/v1/import, as sent
  int64_t max_bodies_bytes = 1 << 30;   // --web.max-bodies-bytes: of all requests together
  int64_t max_pages_bytes = 256 << 20;  // --scrape.max-bodies-bytes: of all targets together

  std::string storage_path = "data/";
  Duration retention_time{0};      // 0: the configuration file's, else 15d
  uint64_t retention_size = 0;     // bytes; 0: the configuration file's, else no limit
  int64_t max_series = 5'000'000;  // --storage.max-series: cardinality budget of the head
  int64_t max_series_bytes = 0;    // --storage.max-series-bytes: likewise; 0: no limit

  Duration lookback_delta = std::chrono::minutes(5);
  Duration query_timeout = std::chrono::minutes(2);
  int64_t query_max_concurrency = 20;
  int64_t query_max_samples = 50'000'000;

  Duration for_outage_tolerance = std::chrono::hours(1);
  Duration for_grace_period = std::chrono::minutes(10);
  Duration resend_delay = std::chrono::minutes(1);
  int64_t max_concurrent_evals = 4;
  Duration replay_timeout = std::chrono::minutes(30);  // --rules.replay.timeout
  int64_t replay_max_alerts = 200'000;                 // --rules.replay.max-alerts
  int64_t notification_queue_capacity = 10'000;
  int64_t notification_batch_size = 256;

  Duration data_retention = std::chrono::hours(120);  // silences and notification log
  int64_t max_silences = 0;
  int64_t max_silence_size_bytes = 0;

  std::set<std::string> features;
  base::LogLevel log_level = base::LogLevel::Info;
  base::LogFormat log_format = base::LogFormat::Logfmt;

  // Every flag with the text of its value, as /api/v1/status/flags answers.
  std::map<std::string, std::string> texts;
  // Given on the command line although they do nothing here.
  std::vector<std::string> without_effect;

  bool has_feature(const std::string& name) const { return features.contains(name); }
  bool plain_alertmanager() const { return config_file.empty(); }
};

// Either flags, or the text to print and the exit status (0 for --help and --version, 2 for a
// mistake).
struct EarlyExit {
  int status = 0;
  std::string text;
};
std::variant<Flags, EarlyExit> parse_flags(int argc, const char* const* argv);

}  // namespace vagt::engine

// The parts prometheus.yml is read in. Inside this folder only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "config/prometheus_config.h"

namespace vagt::config {

// What jobs inherit from `global`.
struct JobDefaults {
  Duration scrape_interval = std::chrono::minutes(1);
  Duration scrape_timeout = std::chrono::seconds(10);
  std::vector<exposition::Protocol> protocols = scrape::ScrapeConfig().protocols;
  scrape::ScrapeLimits limits;
  scrape::NameScheme name_scheme = scrape::NameScheme::Utf8;
  exposition::Escaping escaping = exposition::Escaping::AllowUtf8;
  bool scrape_native_histograms = false, always_scrape_classic_histograms = false;
  bool convert_classic_histograms_to_nhcb = false, extra_scrape_metrics = false;
  std::string failure_log_file;
  std::string fingerprint;  // of all this
};

struct ReadContext {
  std::string base_dir;  // of the file being read
  JobDefaults defaults;
  std::vector<std::string>* notices = nullptr;

  void notice(const base::YamlNode& node, std::string_view text) const;
};

// A null entry is `empty_message`. Rules are validated and their regexes compiled.
Status read_relabel_configs(const base::YamlNode* node, scrape::NameScheme scheme,
                            std::string_view empty_message,
                            std::vector<scrape::RelabelConfig>& out);

// static_configs and every *_sd_configs of `fields`.
Status read_discovery(base::YamlFields& fields, const ReadContext& context,
                      scrape::DiscoveryConfig& out);

// Somebody wrote a URL among the static targets. Only of sections without relabelling, which may
// make something else of it (the targets of blackbox_exporter are URLs).
Status check_static_addresses(const base::YamlNode& section);

Status read_global(const base::YamlNode& node, ReadContext& context, GlobalConfig& out);
Status read_scrape_configs(const base::YamlNode& node, const ReadContext& context,
                           std::vector<scrape::ScrapeConfig>& out);
Status read_alerting(const base::YamlNode& node, const ReadContext& context, AlertingConfig& out);
Status read_storage(const base::YamlNode& node, StorageConfig& out);
Status read_remote_write(const base::YamlNode& node, const ReadContext& context,
                         std::vector<RemoteWriteConfig>& out);
Status read_remote_read(const base::YamlNode& node, const ReadContext& context,
                        std::vector<RemoteReadConfig>& out);
Status read_otlp(const base::YamlNode& node, scrape::NameScheme scheme, OtlpConfig& out);
Status read_tracing(const base::YamlNode& node, const ReadContext& context);

// Keys that global and scrape_config share.
void read_limits(base::YamlFields& fields, scrape::ScrapeLimits& limits);
Status read_protocols(const base::YamlNode& node, std::vector<exposition::Protocol>& out);
// Both keys; what is not set is inherited, and an escaping that was not set follows the scheme.
void read_name_scheme(base::YamlFields& fields, const JobDefaults& defaults,
                      scrape::NameScheme& scheme, exposition::Escaping& escaping);

// "$VAR" and "${VAR}" from the environment, "$$" is "$".
std::string expand_environment(std::string_view text);
// A glob may stand in the last path element only.
bool is_glob_path(std::string_view path);

// The section as text: with its secrets, in file order, for telling whether it changed.
std::string canonical_text(const base::YamlNode& node);
// The section as YAML with secrets masked.
std::string masked_yaml(const base::YamlNode& node);

}  // namespace vagt::config

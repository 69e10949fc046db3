// `global` and `scrape_configs`.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "config/http_config.h"
#include "config/sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

std::string joined(const YamlNode& list) {
  std::string out;
  for (const YamlNode& item : list.items()) out += (out.empty() ? "" : " ") + item.scalar();
  return out;
}

std::string unknown_protocol(std::string_view name) {
  return fmt::format("unknown scrape protocol {}, supported: [{}]", name,
                     exposition::protocol_names());
}

exposition::Escaping default_escaping(scrape::NameScheme scheme) {
  return scheme == scrape::NameScheme::Utf8 ? exposition::Escaping::AllowUtf8
                                            : exposition::Escaping::Underscores;
}

Status read_params(const YamlNode& node,
                   std::vector<std::pair<std::string, std::vector<std::string>>>& out) {
  if (node.is_null()) return {};
  if (!node.is_map()) return node.error("params: expected a map of lists");
  for (const YamlNode::Entry& entry : node.entries()) {
    if (!entry.value.is_sequence() && !entry.value.is_null()) {
      return entry.value.error(
          fmt::format("line {}: cannot unmarshal !!str into []string", entry.value.line()));
    }
    std::vector<std::string> values;
    for (const YamlNode& item : entry.value.items()) {
      VAGT_TRY(std::string value, item.as_string());
      values.push_back(std::move(value));
    }
    out.emplace_back(entry.key, std::move(values));
  }
  std::sort(out.begin(), out.end());
  return {};
}

Status read_job_protocols(YamlFields& fields, const std::string& suffix,
                          scrape::ScrapeConfig& job) {
  if (const YamlNode* node = fields.take("scrape_protocols"); node != nullptr && !node->is_null()) {
    if (const Status read = read_protocols(*node, job.protocols); !read.ok()) {
      return Status::invalid(read.message() + suffix);
    }
  }
  const YamlNode* node = fields.take("fallback_scrape_protocol");
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_scalar()) {
    return node->error(fmt::format(
        "yaml: unmarshal errors: line {}: cannot unmarshal {} into config.ScrapeProtocol",
        node->line(), node->is_map() ? "!!map" : "!!seq"));
  }
  if (node->scalar().empty()) return {};
  job.fallback_protocol = exposition::protocol_from_name(node->scalar());
  if (job.fallback_protocol) return {};
  return node->error(fmt::format("invalid fallback_scrape_protocol{}: {}", suffix,
                                 unknown_protocol(node->scalar())));
}

Status read_timing(const YamlNode& node, YamlFields& fields, const JobDefaults& defaults,
                   const std::string& suffix, scrape::ScrapeConfig& job) {
  job.interval = defaults.scrape_interval;
  Duration timeout{0};
  fields.read("scrape_interval", job.interval).read("scrape_timeout", timeout);
  if (job.interval.count() == 0) job.interval = defaults.scrape_interval;
  job.timeout = timeout.count() != 0 ? timeout : std::min(defaults.scrape_timeout, job.interval);
  if (job.timeout <= job.interval) return {};
  const YamlNode* at = node.find("scrape_timeout");
  return (at != nullptr ? *at : node).error("scrape timeout greater than scrape interval" + suffix);
}

Result<scrape::ScrapeConfig> read_job(const YamlNode& node, const ReadContext& context) {
  const JobDefaults& defaults = context.defaults;
  scrape::ScrapeConfig job;
  YamlFields fields(node);
  fields.read("job_name", job.job_name);
  const std::string suffix =
      fmt::format(" for scrape config with job name {}", quote(job.job_name));
  job.protocols = defaults.protocols;
  job.limits = defaults.limits;
  job.scrape_native_histograms = defaults.scrape_native_histograms;
  job.always_scrape_classic_histograms = defaults.always_scrape_classic_histograms;
  job.convert_classic_histograms_to_nhcb = defaults.convert_classic_histograms_to_nhcb;
  job.extra_scrape_metrics = defaults.extra_scrape_metrics;
  job.failure_log_file = defaults.failure_log_file;
  fields.read("metrics_path", job.metrics_path).read("scheme", job.scheme);
  fields.read("honor_labels", job.honor_labels).read("honor_timestamps", job.honor_timestamps);
  fields.read("track_timestamps_staleness", job.track_timestamps_staleness);
  fields.read("enable_compression", job.enable_compression);
  fields.read("extra_scrape_metrics", job.extra_scrape_metrics);
  fields.read("scrape_native_histograms", job.scrape_native_histograms);
  fields.read("always_scrape_classic_histograms", job.always_scrape_classic_histograms);
  fields.read("convert_classic_histograms_to_nhcb", job.convert_classic_histograms_to_nhcb);
  fields.read("native_histogram_bucket_limit", job.native_histogram_bucket_limit);
  fields.read("native_histogram_min_bucket_factor", job.native_histogram_min_bucket_factor);
  fields.read("scrape_failure_log_file", job.failure_log_file);
  job.failure_log_file = resolve_path(context.base_dir, job.failure_log_file);
  read_limits(fields, job.limits);
  read_name_scheme(fields, defaults, job.name_scheme, job.escaping);
  if (const YamlNode* params = fields.take("params")) fields.fail(read_params(*params, job.params));
  fields.fail(read_job_protocols(fields, suffix, job));
  read_http_config(fields, context.base_dir, job.http);
  fields.fail(read_discovery(fields, context, job.discovery));
  fields.fail(read_relabel_configs(fields.take("relabel_configs"), job.name_scheme,
                                   "empty or null target relabeling rule in scrape config",
                                   job.relabel));
  fields.fail(read_relabel_configs(fields.take("metric_relabel_configs"), job.name_scheme,
                                   "empty or null metric relabeling rule in scrape config",
                                   job.metric_relabel));
  fields.fail(read_timing(node, fields, defaults, suffix, job));
  VAGT_CHECK_OK(fields.finish("config.ScrapeConfig"));
  if (job.job_name.empty()) return node.error("job_name is empty");
  if (job.relabel.empty()) VAGT_CHECK_OK(check_static_addresses(node));
  if (job.scheme != "http" && job.scheme != "https") {
    return node.find("scheme")->error(
        fmt::format("scheme must be http or https, not {}", quote(job.scheme)));
  }
  job.fingerprint = canonical_text(node) + "\n" + defaults.fingerprint + "\n" + context.base_dir;
  return job;
}

Result<Labels> read_external_labels(const YamlNode& node) {
  if (node.is_null()) return Labels();
  if (!node.is_map()) return node.error("external_labels: expected a map");
  Labels::Pairs pairs;
  for (const YamlNode::Entry& entry : node.entries()) {
    if (!is_utf8_name(entry.key)) {
      return entry.value.error(fmt::format("{} is not a valid label name", quote(entry.key)));
    }
    VAGT_TRY(const std::string text, entry.value.as_string());
    if (!is_valid_utf8(text))
      return entry.value.error(fmt::format("{} is not a valid label value", quote(text)));
    pairs.emplace_back(entry.key, expand_environment(text));
  }
  return Labels::make(std::move(pairs));
}

}  // namespace

void read_limits(YamlFields& fields, scrape::ScrapeLimits& limits) {
  fields.read_bytes("body_size_limit", limits.body_size_bytes);
  fields.read("sample_limit", limits.samples).read("target_limit", limits.targets);
  fields.read("label_limit", limits.labels)
      .read("label_name_length_limit", limits.label_name_length);
  fields.read("label_value_length_limit", limits.label_value_length);
  fields.read("keep_dropped_targets", limits.kept_dropped_targets);
}

Status read_protocols(const YamlNode& node, std::vector<exposition::Protocol>& out) {
  if (!node.is_sequence()) return node.error("scrape_protocols: expected a list");
  if (node.items().empty()) return node.error("scrape_protocols cannot be empty");
  std::vector<exposition::Protocol> protocols;
  for (const YamlNode& item : node.items()) {
    const auto protocol = exposition::protocol_from_name(item.scalar());
    if (!protocol)
      return item.error(fmt::format("scrape_protocols: {}", unknown_protocol(item.scalar())));
    if (std::find(protocols.begin(), protocols.end(), *protocol) != protocols.end()) {
      return item.error(
          fmt::format("duplicated protocol in scrape_protocols, got [{}]", joined(node)));
    }
    protocols.push_back(*protocol);
  }
  out = std::move(protocols);
  return {};
}

void read_name_scheme(YamlFields& fields, const JobDefaults& defaults, scrape::NameScheme& scheme,
                      exposition::Escaping& escaping) {
  scheme = defaults.name_scheme;
  const YamlNode* scheme_node = fields.take("metric_name_validation_scheme");
  if (scheme_node != nullptr && !scheme_node->scalar().empty()) {
    const std::string& text = scheme_node->scalar();
    if (text != "utf8" && text != "legacy") {
      fields.fail(
          scheme_node->error(fmt::format("unrecognized ValidationScheme: {}", quote(text))));
      return;
    }
    scheme = text == "utf8" ? scrape::NameScheme::Utf8 : scrape::NameScheme::Legacy;
  }
  escaping = scheme == defaults.name_scheme ? defaults.escaping : default_escaping(scheme);
  const YamlNode* node = fields.take("metric_name_escaping_scheme");
  if (node == nullptr || node->scalar().empty()) return;
  for (const auto candidate : {exposition::Escaping::AllowUtf8, exposition::Escaping::Underscores,
                               exposition::Escaping::Dots, exposition::Escaping::Values}) {
    if (exposition::escaping_name(candidate) != node->scalar()) continue;
    escaping = candidate;
    if (candidate == exposition::Escaping::AllowUtf8 && scheme == scrape::NameScheme::Legacy) {
      fields.fail(
          node->error("utf8 metric names requested but validation scheme is not set to UTF8"));
    }
    return;
  }
  fields.fail(node->error(
      fmt::format("unknown metric_name_escaping_scheme {}, supported: allow-utf-8, underscores, "
                  "dots, values",
                  quote(node->scalar()))));
}

Status read_global(const YamlNode& node, ReadContext& context, GlobalConfig& out) {
  JobDefaults& defaults = context.defaults;
  YamlFields fields(node);
  Duration timeout{0};
  fields.read("scrape_interval", out.scrape_interval).read("scrape_timeout", timeout);
  fields.read("evaluation_interval", out.evaluation_interval);
  fields.read("rule_query_offset", out.rule_query_offset);
  fields.read("query_log_file", out.query_log_file);
  fields.read("scrape_failure_log_file", out.scrape_failure_log_file);
  fields.read("scrape_native_histograms", defaults.scrape_native_histograms);
  fields.read("always_scrape_classic_histograms", defaults.always_scrape_classic_histograms);
  fields.read("convert_classic_histograms_to_nhcb", defaults.convert_classic_histograms_to_nhcb);
  fields.read("extra_scrape_metrics", defaults.extra_scrape_metrics);
  read_limits(fields, defaults.limits);
  const YamlNode* scheme = fields.take("metric_name_validation_scheme");
  if (scheme != nullptr && scheme->scalar() == "legacy") {
    defaults.name_scheme = scrape::NameScheme::Legacy;
    defaults.escaping = exposition::Escaping::Underscores;
  }
  read_name_scheme(fields, JobDefaults(defaults), defaults.name_scheme, defaults.escaping);
  if (const YamlNode* protocols = fields.take("scrape_protocols");
      protocols != nullptr && !protocols->is_null()) {
    Status read = read_protocols(*protocols, defaults.protocols);
    if (!read.ok()) read = Status::invalid(read.message() + " for global config");
    fields.fail(std::move(read));
  }
  if (const YamlNode* labels = fields.take("external_labels")) {
    auto read = read_external_labels(*labels);
    read ? void(out.external_labels = std::move(*read)) : void(fields.fail(read.error()));
  }
  VAGT_CHECK_OK(fields.finish("config.plain"));
  const GlobalConfig standard;
  if (out.scrape_interval.count() == 0) out.scrape_interval = standard.scrape_interval;
  if (out.evaluation_interval.count() == 0) out.evaluation_interval = standard.evaluation_interval;
  out.scrape_timeout =
      timeout.count() != 0 ? timeout : std::min(standard.scrape_timeout, out.scrape_interval);
  if (out.scrape_timeout > out.scrape_interval) {
    return node.error("global scrape timeout greater than scrape interval");
  }
  out.query_log_file = resolve_path(context.base_dir, out.query_log_file);
  out.scrape_failure_log_file = resolve_path(context.base_dir, out.scrape_failure_log_file);
  defaults.scrape_interval = out.scrape_interval;
  defaults.scrape_timeout = out.scrape_timeout;
  defaults.failure_log_file = out.scrape_failure_log_file;
  defaults.fingerprint = canonical_text(node);
  return {};
}

Status read_scrape_configs(const YamlNode& node, const ReadContext& context,
                           std::vector<scrape::ScrapeConfig>& out) {
  if (node.is_null()) return {};
  if (!node.is_sequence()) return node.error("scrape_configs: expected a list");
  for (const YamlNode& item : node.items()) {
    if (item.is_null()) return item.error("empty or null scrape config section");
    VAGT_TRY(scrape::ScrapeConfig job, read_job(item, context));
    const bool exists = std::any_of(out.begin(), out.end(), [&job](const auto& other) {
      return other.job_name == job.job_name;
    });
    if (exists) {
      return item.error(
          fmt::format("found multiple scrape configs with job name {}", quote(job.job_name)));
    }
    out.push_back(std::move(job));
  }
  return {};
}

std::string expand_environment(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '$') {
      out += '$', ++i;
      continue;
    }
    const bool braced = text[i + 1] == '{';
    const size_t from = i + (braced ? 2 : 1);
    size_t to = from;
    const auto is_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    };
    while (to < text.size() && (braced ? text[to] != '}' : is_word(text[to]))) ++to;
    if (to == from || (braced && to == text.size())) {
      out += text[i];
      continue;
    }
    const char* value = std::getenv(std::string(text.substr(from, to - from)).c_str());
    if (value != nullptr) out += value;
    i = braced ? to : to - 1;
  }
  return out;
}

}  // namespace vagt::config

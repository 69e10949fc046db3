// remote_write, remote_read, otlp and tracing: read, checked and shown; nothing uses them yet.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "config/http_config.h"
#include "config/sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

Status check_headers(const YamlNode& node, const std::map<std::string, std::string>& headers) {
  static constexpr std::array<std::string_view, 13> kReserved = {
      "host",
      "content-encoding",
      "content-length",
      "content-type",
      "user-agent",
      "connection",
      "keep-alive",
      "proxy-authenticate",
      "proxy-authorization",
      "www-authenticate",
      "accept-encoding",
      "x-prometheus-remote-write-version",
      "x-prometheus-remote-read-version"};
  for (const auto& [name, value] : headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (lower == "authorization") {
      return node.error(
          "authorization header must be changed via the basic_auth, authorization, oauth2, sigv4, "
          "azuread or google_iam parameter");
    }
    if (std::find(kReserved.begin(), kReserved.end(), lower) != kReserved.end()) {
      return node.error(fmt::format("{} is a reserved header. It must not be changed", name));
    }
  }
  return {};
}

Status read_queue(const YamlNode& node, RemoteQueueConfig& out) {
  YamlFields fields(node);
  fields.read("capacity", out.capacity)
      .read("max_shards", out.max_shards)
      .read("min_shards", out.min_shards);
  fields.read("max_samples_per_send", out.max_samples_per_send);
  fields.read("batch_send_deadline", out.batch_send_deadline);
  fields.read("min_backoff", out.min_backoff).read("max_backoff", out.max_backoff);
  fields.read("retry_on_http_429", out.retry_on_rate_limit)
      .read("sample_age_limit", out.sample_age_limit);
  VAGT_CHECK_OK(fields.finish("config.QueueConfig"));
  const std::pair<const char*, int64_t> positive[] = {
      {"capacity", out.capacity},
      {"max_shards", out.max_shards},
      {"min_shards", out.min_shards},
      {"max_samples_per_send", out.max_samples_per_send}};
  for (const auto& [name, value] : positive) {
    if (value <= 0) return node.error(fmt::format("remote write queue {} must be positive", name));
  }
  if (out.min_shards > out.max_shards) {
    return node.error("remote write queue min_shards must not be greater than max_shards");
  }
  if (out.max_backoff < out.min_backoff) {
    return node.error("remote write queue max_backoff must not be less than min_backoff");
  }
  return {};
}

Status read_metadata_config(const YamlNode& node, RemoteWriteConfig& out) {
  YamlFields fields(node);
  fields.read("send", out.metadata_send).read("send_interval", out.metadata_send_interval);
  fields.read("max_samples_per_send", out.metadata_max_samples_per_send);
  return fields.finish("config.MetadataConfig");
}

Result<RemoteWriteConfig> read_writer(const YamlNode& node, const ReadContext& context) {
  RemoteWriteConfig config;
  YamlFields fields(node);
  fields.read("url", config.url).read("name", config.name).read("remote_timeout", config.timeout);
  fields.read("protobuf_message", config.protobuf_message).read("headers", config.headers);
  fields.read("send_exemplars", config.send_exemplars);
  fields.read("send_native_histograms", config.send_native_histograms);
  fields.read("round_robin_dns", config.round_robin_dns);
  fields.fail(read_relabel_configs(
      fields.take("write_relabel_configs"), context.defaults.name_scheme,
      "empty or null relabeling rule in remote write config", config.write_relabel));
  if (const YamlNode* queue = fields.take("queue_config"))
    fields.fail(read_queue(*queue, config.queue));
  if (const YamlNode* metadata = fields.take("metadata_config")) {
    fields.fail(read_metadata_config(*metadata, config));
  }
  read_http_config(fields, context.base_dir, config.http);
  for (const char* cloud : {"sigv4", "azuread", "google_iam"}) {
    if (const YamlNode* at = fields.take(cloud))
      context.notice(*at, fmt::format("{} is not implemented", cloud));
  }
  VAGT_CHECK_OK(fields.finish("config.RemoteWriteConfig"));
  if (config.url.empty()) return node.error("url for remote_write is empty");
  if (const YamlNode* headers = node.find("headers"))
    VAGT_CHECK_OK(check_headers(*headers, config.headers));
  if (config.protobuf_message != "prometheus.WriteRequest" &&
      config.protobuf_message != "io.prometheus.write.v2.Request") {
    return node.find("protobuf_message")
        ->error(fmt::format(
            "invalid protobuf_message value: unknown type for remote write protobuf message {}, "
            "supported: prometheus.WriteRequest, io.prometheus.write.v2.Request",
            config.protobuf_message));
  }
  return config;
}

Result<RemoteReadConfig> read_reader(const YamlNode& node, const ReadContext& context) {
  RemoteReadConfig config;
  YamlFields fields(node);
  fields.read("url", config.url).read("name", config.name).read("remote_timeout", config.timeout);
  fields.read("chunked_read_limit", config.chunked_read_limit).read("headers", config.headers);
  fields.read("required_matchers", config.required_matchers)
      .read("read_recent", config.read_recent);
  fields.read("filter_external_labels", config.filter_external_labels);
  read_http_config(fields, context.base_dir, config.http);
  VAGT_CHECK_OK(fields.finish("config.RemoteReadConfig"));
  if (config.url.empty()) return node.error("url for remote_read is empty");
  if (const YamlNode* headers = node.find("headers"))
    VAGT_CHECK_OK(check_headers(*headers, config.headers));
  return config;
}

template <class Config, class Read>
Status read_remotes(const YamlNode& node, const ReadContext& context, std::string_view what,
                    Read read, std::vector<Config>& out) {
  if (node.is_null()) return {};
  if (!node.is_sequence()) return node.error(fmt::format("{}: expected a list", what));
  std::set<std::string> names;
  for (const YamlNode& item : node.items()) {
    if (item.is_null()) return item.error(fmt::format("empty or null {} config section", what));
    VAGT_TRY(Config config, read(item, context));
    if (!config.name.empty() && !names.insert(config.name).second) {
      return item.error(
          fmt::format("found multiple {} configs with job name {}", what, quote(config.name)));
    }
    out.push_back(std::move(config));
  }
  if (!out.empty())
    context.notice(node, fmt::format("{} is accepted and checked, but not used yet", what));
  return {};
}

// Trims, and refuses empty and repeated attributes.
Status clean_attributes(const YamlNode& node, std::string_view key, std::string_view adjective,
                        std::vector<std::string>& attributes) {
  std::set<std::string> seen;
  for (std::string& attribute : attributes) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
    while (!attribute.empty() && is_space(attribute.back())) attribute.pop_back();
    while (!attribute.empty() && is_space(attribute.front())) attribute.erase(0, 1);
    if (attribute.empty()) {
      return node.error(
          fmt::format("invalid '{}': empty {} OTel resource attribute", key, adjective));
    }
    if (!seen.insert(attribute).second) {
      return node.error(fmt::format("invalid '{}': duplicated {} OTel resource attribute {}", key,
                                    adjective, quote(attribute)));
    }
  }
  return {};
}

Status check_translation(const YamlNode& node, scrape::NameScheme scheme,
                         const std::string& strategy) {
  static constexpr std::array<std::string_view, 4> kStrategies = {
      "UnderscoreEscapingWithSuffixes", "UnderscoreEscapingWithoutSuffixes",
      "NoUTF8EscapingWithSuffixes", "NoTranslation"};
  if (std::find(kStrategies.begin(), kStrategies.end(), strategy) == kStrategies.end()) {
    return node.error(fmt::format("unsupported OTLP translation strategy {}", quote(strategy)));
  }
  if (scheme == scrape::NameScheme::Legacy && strategy.starts_with("No")) {
    return node.error(fmt::format(
        "OTLP translation strategy {} is not allowed when UTF8 is disabled", quote(strategy)));
  }
  return {};
}

}  // namespace

Status read_remote_write(const YamlNode& node, const ReadContext& context,
                         std::vector<RemoteWriteConfig>& out) {
  return read_remotes(node, context, "remote write", read_writer, out);
}

Status read_remote_read(const YamlNode& node, const ReadContext& context,
                        std::vector<RemoteReadConfig>& out) {
  return read_remotes(node, context, "remote read", read_reader, out);
}

Status read_otlp(const YamlNode& node, scrape::NameScheme scheme, OtlpConfig& out) {
  YamlFields fields(node);
  fields.read("promote_all_resource_attributes", out.promote_all_resource_attributes);
  fields.read("promote_resource_attributes", out.promote_resource_attributes);
  fields.read("ignore_resource_attributes", out.ignore_resource_attributes);
  fields.read("translation_strategy", out.translation_strategy);
  fields.read("keep_identifying_resource_attributes", out.keep_identifying_resource_attributes);
  fields.read("convert_histograms_to_nhcb", out.convert_histograms_to_nhcb);
  fields.read("promote_scope_metadata", out.promote_scope_metadata);
  fields.read("label_name_underscore_sanitization", out.label_name_underscore_sanitization);
  fields.read("label_name_preserve_multiple_underscores",
              out.label_name_preserve_multiple_underscores);
  VAGT_CHECK_OK(fields.finish("config.plain"));
  if (out.promote_all_resource_attributes && !out.promote_resource_attributes.empty()) {
    return node.error(
        "'promote_all_resource_attributes' and 'promote_resource_attributes' cannot be configured "
        "simultaneously");
  }
  if (!out.promote_all_resource_attributes && !out.ignore_resource_attributes.empty()) {
    return node.error(
        "'ignore_resource_attributes' cannot be configured unless "
        "'promote_all_resource_attributes' is "
        "true");
  }
  VAGT_CHECK_OK(clean_attributes(node, "promote_resource_attributes", "promoted",
                                 out.promote_resource_attributes));
  VAGT_CHECK_OK(clean_attributes(node, "ignore_resource_attributes", "ignored",
                                 out.ignore_resource_attributes));
  const YamlNode* strategy = node.find("translation_strategy");
  return check_translation(strategy != nullptr ? *strategy : node, scheme,
                           out.translation_strategy);
}

Status read_tracing(const YamlNode& node, const ReadContext& context) {
  YamlFields fields(node);
  std::string client_type = "grpc", endpoint, compression;
  double sampling = 0;
  bool insecure = false;
  std::map<std::string, std::string> headers;
  Duration timeout{};
  net::TlsOptions tls;
  fields.read("client_type", client_type)
      .read("endpoint", endpoint)
      .read("sampling_fraction", sampling);
  fields.read("insecure", insecure).read("headers", headers).read("compression", compression);
  fields.read("timeout", timeout);
  if (const YamlNode* at = fields.take("tls_config"))
    fields.fail(read_tls_config(*at, context.base_dir, tls));
  VAGT_CHECK_OK(fields.finish("config.plain"));
  if (node.is_null()) return {};
  if (endpoint.empty()) return node.error("tracing endpoint must be set");
  if (client_type != "grpc" && client_type != "http") {
    return node.error("expected tracing client type to be http or grpc, but got " +
                      quote(client_type));
  }
  context.notice(node, "tracing is accepted, but nothing is traced");
  return {};
}

}  // namespace vagt::config

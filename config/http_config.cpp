#include "config/http_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "base/labels.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

Status read_basic_auth(const YamlNode& node, const std::string& base_dir, net::BasicAuth& out) {
  YamlFields fields(node);
  std::string username_ref, password_ref;
  fields.read("username", out.username).read("password", out.password);
  fields.read("username_file", out.username_file).read("password_file", out.password_file);
  fields.read("username_ref", username_ref).read("password_ref", password_ref);
  VAGT_CHECK_OK(fields.finish("config.BasicAuth"));
  if (!username_ref.empty() || !password_ref.empty()) {
    return node.error(
        "basic_auth: no secret manager is configured for username_ref and password_ref");
  }
  if (!out.username.empty() && !out.username_file.empty()) {
    return node.error("at most one of the basic_auth username & username_file must be configured");
  }
  if (!out.password.empty() && !out.password_file.empty()) {
    return node.error("at most one of the basic_auth password & password_file must be configured");
  }
  out.username_file = resolve_path(base_dir, out.username_file);
  out.password_file = resolve_path(base_dir, out.password_file);
  return {};
}

Status read_authorization(const YamlNode& node, const std::string& base_dir,
                          net::Authorization& out) {
  YamlFields fields(node);
  fields.read("type", out.type).read("credentials", out.credentials);
  fields.read("credentials_file", out.credentials_file);
  VAGT_CHECK_OK(fields.finish("config.Authorization"));
  if (!out.credentials.empty() && !out.credentials_file.empty()) {
    return node.error(
        "at most one of authorization credentials & credentials_file must be configured");
  }
  if (out.type.empty()) out.type = "Bearer";
  if (lower(out.type) == "basic") {
    return node.error("authorization type cannot be set to \"basic\", use \"basic_auth\" instead");
  }
  out.credentials_file = resolve_path(base_dir, out.credentials_file);
  return {};
}

Status read_oauth2(const YamlNode& node, const std::string& base_dir, net::OAuth2& out) {
  YamlFields fields(node);
  std::map<std::string, std::string> params;
  fields.read("client_id", out.client_id).read("client_secret", out.client_secret);
  fields.read("client_secret_file", out.client_secret_file).read("scopes", out.scopes);
  fields.read("token_url", out.token_url).read("endpoint_params", params);
  if (const YamlNode* tls = fields.take("tls_config"))
    fields.fail(read_tls_config(*tls, base_dir, out.tls));
  // The token request goes through the section's own proxy; these keys are known to Prometheus here
  // too.
  for (const char* key :
       {"proxy_url", "no_proxy", "proxy_from_environment", "proxy_connect_header"}) {
    if (const YamlNode* at = fields.take(key)) {
      fields.fail(
          at->error(fmt::format("oauth2: {} is not supported here; set it beside oauth2", key)));
    }
  }
  VAGT_CHECK_OK(fields.finish("config.OAuth2"));
  if (out.client_id.empty()) return node.error("oauth2 client_id must be configured");
  if (out.token_url.empty()) return node.error("oauth2 token_url must be configured");
  if (!out.client_secret.empty() && !out.client_secret_file.empty()) {
    return node.error(
        "at most one of oauth2 client_secret & client_secret_file must be configured");
  }
  out.endpoint_params.assign(params.begin(), params.end());
  out.client_secret_file = resolve_path(base_dir, out.client_secret_file);
  return {};
}

Result<std::vector<std::string>> string_list(const YamlNode& node) {
  std::vector<std::string> out;
  if (node.is_null()) return out;
  if (!node.is_sequence()) return node.error("expected a list of strings");
  for (const YamlNode& item : node.items()) {
    VAGT_TRY(std::string text, item.as_string());
    out.push_back(std::move(text));
  }
  return out;
}

// {Name: {values: [...], secrets: [...], files: [...]}}. Files are read with each request.
Status read_headers(const YamlNode& node, const std::string& base_dir, net::HttpClientConfig& out) {
  static constexpr std::array<std::string_view, 14> kReserved = {
      "authorization",
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
      "x-prometheus-scrape-timeout-seconds"};
  if (node.is_null()) return {};
  if (!node.is_map()) return node.error("http_headers: expected a map of header names");
  for (const YamlNode::Entry& entry : node.entries()) {
    if (std::find(kReserved.begin(), kReserved.end(), lower(entry.key)) != kReserved.end()) {
      return entry.value.error(fmt::format("setting header {} is not allowed", quote(entry.key)));
    }
    YamlFields fields(entry.value);
    std::vector<std::string> values, secrets, files;
    fields.read("values", values).read("secrets", secrets).read("files", files);
    VAGT_CHECK_OK(fields.finish("config.Header"));
    values.insert(values.end(), secrets.begin(), secrets.end());
    for (std::string& value : values) out.headers.emplace_back(entry.key, Secret(std::move(value)));
    for (const std::string& file : files) {
      out.header_files.emplace_back(entry.key, resolve_path(base_dir, file));
    }
  }
  return {};
}

// {Name: [secret, …]}
Status read_proxy_headers(const YamlNode& node, std::vector<std::pair<std::string, Secret>>& out) {
  if (node.is_null()) return {};
  if (!node.is_map()) return node.error("proxy_connect_header: expected a map of header names");
  for (const YamlNode::Entry& entry : node.entries()) {
    VAGT_TRY(std::vector<std::string> values, string_list(entry.value));
    for (std::string& value : values) out.emplace_back(entry.key, Secret(std::move(value)));
  }
  return {};
}

Status check_proxy(const net::HttpClientConfig& config) {
  if (config.proxy_from_environment && !config.proxy_url.empty()) {
    return Status::invalid(
        "if proxy_from_environment is configured, proxy_url must not be configured");
  }
  if (config.proxy_from_environment && !config.no_proxy.empty()) {
    return Status::invalid(
        "if proxy_from_environment is configured, no_proxy must not be configured");
  }
  if (config.proxy_url.empty() && !config.no_proxy.empty()) {
    return Status::invalid("if no_proxy is configured, proxy_url must also be configured");
  }
  if (!config.proxy_headers.empty() && !config.proxy_from_environment && config.proxy_url.empty()) {
    return Status::invalid(
        "if proxy_connect_header is configured, proxy_url or proxy_from_environment must also be "
        "configured");
  }
  return {};
}

Status check_one_credential(const net::HttpClientConfig& config, bool bearer_token,
                            bool bearer_file) {
  if (bearer_token && bearer_file) {
    return Status::invalid("at most one of bearer_token & bearer_token_file must be configured");
  }
  if ((config.basic_auth || config.oauth2) && (bearer_token || bearer_file)) {
    return Status::invalid(
        "at most one of basic_auth, oauth2, bearer_token & bearer_token_file must be configured");
  }
  if (config.authorization && (bearer_token || bearer_file)) {
    return Status::invalid("authorization is not compatible with bearer_token & bearer_token_file");
  }
  if (int{config.basic_auth.has_value()} + int{config.oauth2.has_value()} +
          int{config.authorization.has_value()} >
      1) {
    return Status::invalid("at most one of basic_auth, oauth2 & authorization must be configured");
  }
  return {};
}

}  // namespace

std::string resolve_path(const std::string& base_dir, const std::string& path) {
  if (path.empty() || path.front() == '/' || base_dir.empty()) return path;
  return (std::filesystem::path(base_dir) / path).lexically_normal().string();
}

Status read_tls_config(const YamlNode& node, const std::string& base_dir, net::TlsOptions& out) {
  YamlFields fields(node);
  fields.read("ca", out.ca).read("cert", out.cert).read("key", out.key);
  fields.read("ca_file", out.ca_file)
      .read("cert_file", out.cert_file)
      .read("key_file", out.key_file);
  fields.read("server_name", out.server_name)
      .read("insecure_skip_verify", out.insecure_skip_verify);
  fields.read("min_version", out.min_version).read("max_version", out.max_version);
  VAGT_CHECK_OK(fields.finish("config.TLSConfig"));
  for (const std::string& version : {out.min_version, out.max_version}) {
    if (version.empty() || version == "TLS10" || version == "TLS11" || version == "TLS12" ||
        version == "TLS13") {
      continue;
    }
    return node.error(fmt::format("unknown TLS version: {}", version));
  }
  if (!out.ca.empty() && !out.ca_file.empty())
    return node.error("at most one of ca and ca_file must be configured");
  const bool has_cert = !out.cert.empty() || !out.cert_file.empty();
  const bool has_key = !out.key.empty() || !out.key_file.empty();
  if (has_cert && !has_key) {
    return node.error(
        "exactly one of key or key_file must be configured when a client certificate is "
        "configured");
  }
  if (has_key && !has_cert) {
    return node.error(
        "exactly one of cert or cert_file must be configured when a client key is configured");
  }
  out.ca_file = resolve_path(base_dir, out.ca_file);
  out.cert_file = resolve_path(base_dir, out.cert_file);
  out.key_file = resolve_path(base_dir, out.key_file);
  return {};
}

void read_http_config(YamlFields& fields, const std::string& base_dir, net::HttpClientConfig& out) {
  const YamlNode* place = nullptr;
  const auto section = [&](std::string_view key, auto read, auto& target) {
    const YamlNode* node = fields.take(key);
    if (node == nullptr) return;
    place = node;
    fields.fail(read(*node, base_dir, target.emplace()));
  };
  section("basic_auth", read_basic_auth, out.basic_auth);
  section("authorization", read_authorization, out.authorization);
  section("oauth2", read_oauth2, out.oauth2);
  if (const YamlNode* tls = fields.take("tls_config"))
    fields.fail(read_tls_config(*tls, base_dir, out.tls));
  Secret bearer_token;
  std::string bearer_file;
  const YamlNode* token_node = fields.take("bearer_token");
  const YamlNode* file_node = fields.take("bearer_token_file");
  fields.read("bearer_token", bearer_token).read("bearer_token_file", bearer_file);
  fields.read("proxy_url", out.proxy_url).read("no_proxy", out.no_proxy);
  fields.read("proxy_from_environment", out.proxy_from_environment);
  fields.read("follow_redirects", out.follow_redirects).read("enable_http2", out.enable_http2);
  if (const YamlNode* node = fields.take("proxy_connect_header")) {
    fields.fail(read_proxy_headers(*node, out.proxy_headers));
  }
  if (const YamlNode* node = fields.take("http_headers"))
    fields.fail(read_headers(*node, base_dir, out));
  if (file_node != nullptr) place = file_node;
  if (token_node != nullptr) place = token_node;
  Status credentials = check_one_credential(out, !bearer_token.empty(), !bearer_file.empty());
  if (!credentials.ok() && place != nullptr) credentials = place->error(credentials.message());
  fields.fail(std::move(credentials));
  Status proxy = check_proxy(out);
  for (const char* key :
       {"no_proxy", "proxy_connect_header", "proxy_from_environment", "proxy_url"}) {
    const YamlNode* node = fields.take(key);
    if (proxy.ok() || node == nullptr) continue;
    proxy = node->error(proxy.message());
    break;
  }
  fields.fail(std::move(proxy));
  if (!bearer_token.empty() || !bearer_file.empty()) {
    net::Authorization& authorization = out.authorization.emplace();
    authorization.credentials = std::move(bearer_token);
    authorization.credentials_file = resolve_path(base_dir, bearer_file);
  }
}

}  // namespace vagt::config

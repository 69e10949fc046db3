#include "net/web_config.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/labels.h"
#include "base/yaml.h"

namespace vagt::net {
namespace {

using base::YamlFields;
using base::YamlNode;

constexpr std::array<std::string_view, 5> kClientAuth = {
    "NoClientCert", "RequestClientCert", "RequireAnyClientCert", "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert"};
constexpr std::array<std::string_view, 4> kVersions = {"TLS10", "TLS11", "TLS12", "TLS13"};

std::string resolved(const std::string& folder, const std::string& path) {
  if (path.empty() || path.front() == '/' || folder.empty()) return path;
  return folder + "/" + path;
}

template <size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Status check_tls(const YamlNode& node, const WebTls& tls) {
  const auto at = [&node](std::string_view key) -> const YamlNode& {
    const YamlNode* found = node.find(key);
    return found != nullptr ? *found : node;
  };
  if (tls.cert_file.empty() && tls.cert.empty())
    return node.error("missing one of cert or cert_file");
  if (tls.key_file.empty() && tls.key.empty()) return node.error("missing one of key or key_file");
  if (!tls.cert_file.empty() && !tls.cert.empty())
    return node.error("cert and cert_file are mutually exclusive");
  if (!tls.key_file.empty() && !tls.key.empty())
    return node.error("key and key_file are mutually exclusive");
  if (!tls.client_ca_file.empty() && !tls.client_ca.empty())
    return node.error("client_ca and client_ca_file are mutually exclusive");
  if (!is_in(kClientAuth, tls.client_auth_type)) {
    return at("client_auth_type")
        .error(fmt::format("Invalid ClientAuth: {}", tls.client_auth_type));
  }
  const bool has_ca = !tls.client_ca_file.empty() || !tls.client_ca.empty();
  if (has_ca && tls.client_auth_type == "NoClientCert")
    return node.error("Client CA's have been configured without a Client Auth Policy");
  const bool verifies = tls.client_auth_type.starts_with("Verify") ||
                        tls.client_auth_type == "RequireAndVerifyClientCert";
  if (verifies && !has_ca) return node.error("client certificates are verified by no client_ca");
  for (const auto& [key, version] :
       {std::pair{"min_version", &tls.min_version}, std::pair{"max_version", &tls.max_version}}) {
    if (!is_in(kVersions, *version))
      return at(key).error(fmt::format("unknown TLS version: {}", *version));
  }
  if (tls.min_version > tls.max_version)
    return at("min_version").error("min_version is above max_version");
  return {};
}

Status read_tls(const YamlNode& node, const std::string& folder, WebConfig& out) {
  if (node.is_null()) return {};
  WebTls tls;
  YamlFields fields(node);
  fields.read("cert_file", tls.cert_file).read("key_file", tls.key_file);
  fields.read("cert", tls.cert).read("key", tls.key);
  fields.read("client_auth_type", tls.client_auth_type);
  fields.read("client_ca_file", tls.client_ca_file).read("client_ca", tls.client_ca);
  fields.read("client_allowed_sans", tls.client_allowed_sans);
  fields.read("min_version", tls.min_version).read("max_version", tls.max_version);
  fields.read("cipher_suites", tls.cipher_suites);
  fields.read("curve_preferences", tls.curve_preferences);
  fields.read("prefer_server_cipher_suites", tls.prefer_server_cipher_suites);
  VAGT_CHECK_OK(fields.finish("web.TLSConfig"));
  VAGT_CHECK_OK(check_tls(node, tls));
  tls.cert_file = resolved(folder, tls.cert_file), tls.key_file = resolved(folder, tls.key_file);
  tls.client_ca_file = resolved(folder, tls.client_ca_file);
  out.tls = std::move(tls);
  return {};
}

Status read_http(const YamlNode& node, WebConfig& out) {
  static constexpr std::array<std::string_view, 5> kAllowed = {
      "Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
      "X-Frame-Options", "X-XSS-Protection"};
  YamlFields fields(node);
  std::map<std::string, std::string> headers;
  fields.read("http2", out.http2).read("headers", headers);
  VAGT_CHECK_OK(fields.finish("web.HTTPConfig"));
  for (const auto& [name, value] : headers) {
    if (!is_in(kAllowed, name))
      return node.error(fmt::format("HTTP header {} can not be configured", quote(name)));
    if (value.find_first_of("\r\n") != std::string::npos)
      return node.error(fmt::format("HTTP header {} holds a line break", quote(name)));
    if (!value.empty()) out.headers.emplace_back(name, value);
  }
  return {};
}

Status read_users(const YamlNode& node, WebConfig& out) {
  if (node.is_null()) return {};
  if (!node.is_map()) return node.error("basic_auth_users: expected a map of names to hashes");
  for (const YamlNode::Entry& entry : node.entries()) {
    VAGT_TRY(std::string hash, entry.value.as_string());
    const bool is_bcrypt = hash.size() == 60 && hash.starts_with("$2") && hash[3] == '$' &&
                           std::string_view("aby").find(hash[2]) != std::string_view::npos;
    if (!is_bcrypt)
      return entry.value.error(
          fmt::format("the password of {} is no bcrypt hash", quote(entry.key)));
    out.users.emplace(entry.key, Secret(std::move(hash)));
  }
  return {};
}

}  // namespace

Result<WebConfig> load_web_config(const std::string& path) {
  VAGT_TRY(const YamlNode root, base::load_yaml_file(path));
  if (!root.is_map() && !root.is_null()) return root.error("expected a map of sections");
  const std::string folder = std::filesystem::path(path).parent_path().string();
  WebConfig config;
  YamlFields fields(root);
  if (const YamlNode* at = fields.take("tls_server_config"))
    fields.fail(read_tls(*at, folder, config));
  if (const YamlNode* at = fields.take("http_server_config")) fields.fail(read_http(*at, config));
  if (const YamlNode* at = fields.take("basic_auth_users")) fields.fail(read_users(*at, config));
  VAGT_CHECK_OK(fields.finish("web.Config"));
  return config;
}

}  // namespace vagt::net

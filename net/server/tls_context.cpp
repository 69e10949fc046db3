#include "net/server/tls_context.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/labels.h"

namespace vagt::net {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Result<std::string> text_or_file(std::string_view what, const std::string& text,
                                 const std::string& path) {
  if (!text.empty()) return text;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status::io(fmt::format("open {}: the {} cannot be read", path, what));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int version_number(const std::string& name) {
  if (name == "TLS10") return TLS1_VERSION;
  if (name == "TLS11") return TLS1_1_VERSION;
  return name == "TLS12" ? TLS1_2_VERSION : TLS1_3_VERSION;
}

// Go's names of TLS 1.2 suites and curves as OpenSSL has them; those of TLS 1.3 are the same.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    {"CurveP256", "P-256"},
    {"CurveP384", "P-384"},
    {"CurveP521", "P-521"},
    {"X25519", "X25519"}};

Result<std::string> joined_names(const std::vector<std::string>& names, std::string_view what) {
  std::string out;
  for (const std::string& name : names) {
    if (name.starts_with("TLS_AES_") || name.starts_with("TLS_CHACHA20_")) continue;
    const auto* known = std::find_if(std::begin(kNames), std::end(kNames),
                                     [&name](const auto& entry) { return entry.first == name; });
    if (known == std::end(kNames))
      return Status::invalid(fmt::format("unknown {}: {}", what, quote(name)));
    out += fmt::format("{}{}", out.empty() ? "" : ":", known->second);
  }
  return out;
}

Status as_status(std::string_view what, const error_code& error) {
  if (!error) return {};
  return Status::invalid(fmt::format("{}: {}", what, error.message()));
}

Status set_ciphers(SSL_CTX* context, const WebTls& tls) {
  VAGT_TRY(const std::string ciphers, joined_names(tls.cipher_suites, "cipher"));
  if (!ciphers.empty() && SSL_CTX_set_cipher_list(context, ciphers.c_str()) != 1)
    return Status::invalid("none of the cipher suites can be used");
  VAGT_TRY(const std::string curves, joined_names(tls.curve_preferences, "curve"));
  if (!curves.empty() && SSL_CTX_set1_groups_list(context, curves.c_str()) != 1)
    return Status::invalid("none of the curves can be used");
  if (tls.prefer_server_cipher_suites)
    SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE);
  return {};
}

// True: one of the certificate's alternative names is among `allowed`.
bool has_allowed_name(X509* certificate, const std::vector<std::string>& allowed) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  bool is_allowed = false;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    std::string text;
    if (name->type == GEN_DNS || name->type == GEN_EMAIL || name->type == GEN_URI) {
      text.assign(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.ia5)),
                  static_cast<size_t>(ASN1_STRING_length(name->d.ia5)));
    } else if (name->type == GEN_IPADD) {
      ASN1_OCTET_STRING* ip = a2i_IPADDRESS(allowed.empty() ? "" : allowed.front().c_str());
      for (const std::string& candidate : allowed) {
        if (ip != nullptr) ASN1_OCTET_STRING_free(ip);
        ip = a2i_IPADDRESS(candidate.c_str());
        if (ip != nullptr && ASN1_OCTET_STRING_cmp(ip, name->d.iPAddress) == 0) is_allowed = true;
      }
      if (ip != nullptr) ASN1_OCTET_STRING_free(ip);
      continue;
    }
    is_allowed |= std::find(allowed.begin(), allowed.end(), text) != allowed.end();
  }
  GENERAL_NAMES_free(names);
  return is_allowed;
}

Status set_client_checks(ssl::context& context, const WebTls& tls) {
  const std::string& type = tls.client_auth_type;
  if (type == "NoClientCert") return {};
  const bool is_required = type.starts_with("Require");
  const bool is_verified = type.find("Verify") != std::string::npos;
  context.set_verify_mode(ssl::verify_peer | (is_required ? ssl::verify_fail_if_no_peer_cert : 0));
  context.set_verify_callback(
      [is_verified, allowed = tls.client_allowed_sans](bool is_good, ssl::verify_context& found) {
        if (is_verified && !is_good) return false;
        X509_STORE_CTX* store = found.native_handle();
        const bool is_leaf = X509_STORE_CTX_get_error_depth(store) == 0;
        if (!is_leaf || allowed.empty()) return true;
        return has_allowed_name(X509_STORE_CTX_get_current_cert(store), allowed);
      });
  if (!is_verified) return {};
  VAGT_TRY(const std::string pem,
           text_or_file("client CA certificate", tls.client_ca, tls.client_ca_file));
  error_code error;
  context.add_certificate_authority(boost::asio::buffer(pem), error);
  return as_status("client_ca", error);
}

}  // namespace

Result<std::shared_ptr<ssl::context>> make_tls_context(const WebTls& tls) {
  VAGT_TRY(const std::string cert, text_or_file("certificate", tls.cert, tls.cert_file));
  VAGT_TRY(const std::string key, text_or_file("key", tls.key.reveal(), tls.key_file));
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const raw = context->native_handle();
  SSL_CTX_set_min_proto_version(raw, version_number(tls.min_version));
  SSL_CTX_set_max_proto_version(raw, version_number(tls.max_version));
  // As OpenSSL wants it for sessions of verified clients.
  static constexpr unsigned char kSession[] = "vagt";
  SSL_CTX_set_session_id_context(raw, kSession, sizeof kSession - 1);
  error_code error;
  context->use_certificate_chain(boost::asio::buffer(cert), error);
  VAGT_CHECK_OK(as_status("certificate", error));
  context->use_private_key(boost::asio::buffer(key), ssl::context::pem, error);
  VAGT_CHECK_OK(as_status("private key", error));
  VAGT_CHECK_OK(set_ciphers(raw, tls));
  VAGT_CHECK_OK(set_client_checks(*context, tls));
  ERR_clear_error();
  return context;
}

}  // namespace vagt::net

#include "net/client/easy_options.h"

#include <string>

namespace vagt::net {
namespace {

Status set_blob(CURL* easy, CURLoption option, const std::string& pem) {
  if (pem.empty()) return {};
  curl_blob blob{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_COPY};
  if (curl_easy_setopt(easy, option, &blob) == CURLE_OK) return {};
  return {Code::Internal, "libcurl does not take certificates from memory"};
}

Result<long> min_version(const std::string& name) {
  if (name.empty()) return static_cast<long>(CURL_SSLVERSION_TLSv1_2);
  if (name == "TLS10") return static_cast<long>(CURL_SSLVERSION_TLSv1_0);
  if (name == "TLS11") return static_cast<long>(CURL_SSLVERSION_TLSv1_1);
  if (name == "TLS12") return static_cast<long>(CURL_SSLVERSION_TLSv1_2);
  if (name == "TLS13") return static_cast<long>(CURL_SSLVERSION_TLSv1_3);
  return Status::invalid("unknown TLS version: " + name);
}

Result<long> max_version(const std::string& name) {
  if (name.empty()) return static_cast<long>(CURL_SSLVERSION_MAX_DEFAULT);
  if (name == "TLS10") return static_cast<long>(CURL_SSLVERSION_MAX_TLSv1_0);
  if (name == "TLS11") return static_cast<long>(CURL_SSLVERSION_MAX_TLSv1_1);
  if (name == "TLS12") return static_cast<long>(CURL_SSLVERSION_MAX_TLSv1_2);
  if (name == "TLS13") return static_cast<long>(CURL_SSLVERSION_MAX_TLSv1_3);
  return Status::invalid("unknown TLS version: " + name);
}

}  // namespace

Status apply_tls(CURL* easy, const TlsOptions& loaded) {
  VAGT_CHECK_OK(set_blob(easy, CURLOPT_CAINFO_BLOB, loaded.ca));
  VAGT_CHECK_OK(set_blob(easy, CURLOPT_SSLCERT_BLOB, loaded.cert));
  VAGT_CHECK_OK(set_blob(easy, CURLOPT_SSLKEY_BLOB, loaded.key.reveal()));
  VAGT_TRY(const long lowest, min_version(loaded.min_version));
  VAGT_TRY(const long highest, max_version(loaded.max_version));
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, lowest | highest);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, loaded.insecure_skip_verify ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, loaded.insecure_skip_verify ? 0L : 2L);
  return {};
}

}  // namespace vagt::net

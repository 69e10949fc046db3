#include "net/client/credentials.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace vagt::net {
namespace {

constexpr size_t kMaxFileBytes = 4u << 20;  // a CA bundle; anything larger is a mistake

Result<std::string> read_file(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return Status::io("open " + path + ": " + std::strerror(errno));
  std::string text;
  char piece[4096];
  size_t got = 0;
  while ((got = std::fread(piece, 1, sizeof piece, file.get())) > 0) {
    text.append(piece, got);
    if (text.size() > kMaxFileBytes) return Status::io("read " + path + ": larger than 4 MiB");
  }
  if (std::ferror(file.get()) != 0) return Status::io("read " + path + ": " + std::strerror(errno));
  return text;
}

Status load_pem(const char* what, const std::string& path, std::string& into) {
  if (path.empty()) return {};
  auto text = read_file(path);
  if (!text) return std::move(text).error().at(std::string("unable to load specified ") + what);
  // An empty text would quietly mean "the system's".
  if (text->empty())
    return Status::io(std::string("unable to use specified ") + what + " " + path + ": empty");
  into = std::move(*text);
  return {};
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path) {
  VAGT_TRY(const std::string text, read_file(path));
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return std::string();
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string base64(std::string_view bytes) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= have ? kAlphabet[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

std::string basic_header(std::string_view user, std::string_view password) {
  return "Basic " + base64(std::string(user) + ":" + std::string(password));
}

Result<std::string> authorization_header(const HttpClientConfig& config) {
  if (config.basic_auth) {
    const BasicAuth& basic = *config.basic_auth;
    std::string user = basic.username;
    std::string password = basic.password.reveal();
    if (!basic.username_file.empty()) {
      VAGT_TRY(user,
               read_secret_file(basic.username_file).at("unable to read basic auth username"));
    }
    if (!basic.password_file.empty()) {
      VAGT_TRY(password,
               read_secret_file(basic.password_file).at("unable to read basic auth password"));
    }
    return basic_header(user, password);
  }
  if (config.authorization) {
    const Authorization& authorization = *config.authorization;
    std::string credentials = authorization.credentials.reveal();
    if (!authorization.credentials_file.empty()) {
      VAGT_TRY(credentials, read_secret_file(authorization.credentials_file)
                                .at("unable to read authorization credentials"));
    }
    if (credentials.empty()) return std::string();
    return authorization.type + " " + credentials;
  }
  return std::string();
}

Result<TlsOptions> load_tls(const TlsOptions& options) {
  TlsOptions loaded = options;
  VAGT_CHECK_OK(load_pem("CA cert", options.ca_file, loaded.ca));
  VAGT_CHECK_OK(load_pem("client cert", options.cert_file, loaded.cert));
  std::string key = options.key.reveal();
  VAGT_CHECK_OK(load_pem("client key", options.key_file, key));
  loaded.key = Secret(std::move(key));
  return loaded;
}

}  // namespace vagt::net

// Mail: HTML and text in one message, over SMTP.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "net/http_client.h"
#include "notify/notifier.h"

namespace vagt::notify {

struct EmailConfig {
  bool send_resolved = false;
  std::string to, from, hello, smarthost_host, smarthost_port;
  std::string auth_username, auth_identity;
  Secret auth_password, auth_secret;
  std::string auth_password_file, auth_secret_file;
  std::vector<std::pair<std::string, std::string>>
      headers;  // canonical names; Subject, To and From have defaults
  std::string html = R"({{ template "email.default.html" . }})", text;
  bool require_tls = true;
  std::optional<bool> force_implicit_tls;  // not set: on port 465
  bool threading = false;
  std::string thread_by_date = "daily";  // "daily" or "none"
  net::TlsOptions tls;
};
std::unique_ptr<Notifier> make_email_notifier(const EmailConfig& config);

}  // namespace vagt::notify

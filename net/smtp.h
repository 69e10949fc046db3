// Sends mail over libcurl's SMTP.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/status.h"
#include "base/time.h"
#include "net/http_client.h"

namespace vagt::net {

struct SmtpRequest {
  std::string host;  // smarthost
  std::string port = "25";
  std::string hello;          // EHLO name
  bool implicit_tls = false;  // port 465
  bool require_tls = true;    // STARTTLS must succeed before AUTH and mail
  TlsOptions tls;
  std::string auth_username;
  Secret auth_password;  // PLAIN or LOGIN, as offered
  Secret auth_secret;    // CRAM-MD5
  std::string auth_identity;
  std::string from;  // envelope, bare addresses
  std::vector<std::string> to;
  std::string message;  // RFC 5322 with CRLF line ends
  Duration timeout = std::chrono::seconds(30);
};

struct SmtpReply {
  int code = 0;      // the server's last reply code
  std::string text;  // for people; no secret in it
};

class SmtpClient {
 public:
  using Done = std::function<void(Result<SmtpReply>)>;  // runs on the client's thread
  SmtpClient();
  ~SmtpClient();
  // Errors: Timeout, Unavailable (temporary: connection, 4xx), InvalidArgument (permanent: 5xx,
  // auth, TLS refused), Cancelled.
  void send(SmtpRequest request, Done done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vagt::net

// What a receiver wants sent, and what came back; who carries it is behind Transport.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "net/http_client.h"
#include "net/smtp.h"

namespace vagt::notify {

struct PrintTransfer {
  std::string text;
};
struct ExecTransfer {
  std::vector<std::string> command;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string input;
  Duration timeout = std::chrono::seconds(30);
};
using TransferBody = std::variant<net::HttpRequest, net::SmtpRequest, PrintTransfer, ExecTransfer>;

struct TransferRequest {
  TransferBody body;
  net::HttpClient::Profile profile;  // for HTTP
};

struct TransferReply {
  Status failure;  // not Ok: no answer came
  int status = 0;  // HTTP status, SMTP code, or exit status
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool answered() const { return failure.ok(); }
  std::string_view header(std::string_view name) const;  // case-insensitive
};

class Transport {
 public:
  using Done = std::function<void(TransferReply)>;
  virtual ~Transport() = default;
  // Calls `done` once, from any thread, possibly before it returns.
  virtual void send(TransferRequest request, Done done) = 0;
};

// Over the network, standard output, and (where allowed) local commands. The clients are borrowed.
struct TransportOptions {
  net::HttpClient* http = nullptr;
  net::SmtpClient* smtp = nullptr;
  bool allow_exec = false;
  std::function<void(const std::string&)> print;  // stdout receiver; null: standard output
};
std::unique_ptr<Transport> make_transport(TransportOptions options);

}  // namespace vagt::notify

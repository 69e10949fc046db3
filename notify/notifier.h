// A receiver in two pure halves: what to send, and what the answer means.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "notify/notification.h"
#include "notify/renderer.h"
#include "notify/transfer.h"

namespace vagt::notify {

enum class SendResult : uint8_t { Sent, Retry, Reject };

struct SendOutcome {
  SendResult result = SendResult::Sent;
  std::string detail;            // for people; holds no secret
  std::string reason = "other";  // label of alertmanager_notifications_failed_total
  std::optional<Duration> retry_after;
};

// Used by the notify thread only.
class Notifier {
 public:
  virtual ~Notifier() = default;
  // The first request. An error is a Reject, unless its code is Unavailable (a secret file that
  // cannot be read just now): then it is tried again.
  virtual Result<TransferRequest> render(const Notification& n, Renderer& r) const = 0;
  virtual SendOutcome judge(const TransferReply& reply) const = 0;
  // For providers that want several requests: what follows these accepted replies. nullopt: done.
  virtual Result<std::optional<TransferRequest>> follow_up(const Notification&, Renderer&,
                                                           std::span<const TransferReply>) const {
    return std::optional<TransferRequest>();
  }
  // What the log keeps for the next notification of the group.
  virtual std::map<std::string, std::string> receiver_data(const Notification& n,
                                                           std::span<const TransferReply>) const {
    return n.receiver_data;
  }
  // Alerts beyond this many are left out; 0: no limit.
  virtual size_t max_alerts() const { return 0; }
};

// The common verdict on an HTTP answer: 2xx sent; 5xx, no answer and the `also_retry` codes again;
// else refused.
SendOutcome judge_http(const TransferReply& reply, std::initializer_list<int> also_retry = {});

// A POST of JSON with the given profile.
TransferRequest json_post(Secret url, std::string body, net::HttpClient::Profile profile);
net::HttpClient::Profile make_profile(const net::HttpClientConfig& config);

// The secret's text, or the trimmed content of the file, read now. Unavailable: cannot be read.
Result<std::string> read_secret(const Secret& inline_value, const std::string& file);

}  // namespace vagt::notify

#include "notify/receivers/matrix.h"

#include "net/url.h"
#include "notify/receivers/payload.h"

namespace vagt::notify {
namespace {

class MatrixNotifier final : public Notifier {
 public:
  explicit MatrixNotifier(const MatrixConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string room, r.required("room_id", config_.room_id));
    VAGT_TRY(std::string token, read_secret(config_.access_token, config_.access_token_file));
    std::string body;
    base::JsonWriter w(body);
    w.begin_object();
    member(w, "msgtype", config_.message_type);
    member(w, "body", r.text("text", config_.text));
    if (!config_.html.empty()) {
      member(w, "format", "org.matrix.custom.html");
      member(w, "formatted_body", r.html("html", config_.html));
    }
    w.end_object();
    // The transaction id makes a repeat of the same notification one event on the server.
    const std::string transaction =
        hashed_key(n.group_key + std::to_string(to_millis(n.begun))).substr(0, 32);
    TransferRequest request =
        json_post(Secret(config_.homeserver_url + "/_matrix/client/v3/rooms/" +
                         net::url_encode(room) + "/send/m.room.message/" + transaction),
                  std::move(body), profile_);
    auto& http = std::get<net::HttpRequest>(request.body);
    http.method = "PUT";
    http.headers.emplace_back("Authorization", "Bearer " + token);
    return request;
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  const MatrixConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

std::unique_ptr<Notifier> make_matrix_notifier(const MatrixConfig& config) {
  return std::make_unique<MatrixNotifier>(config);
}

}  // namespace vagt::notify

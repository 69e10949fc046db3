#include "notify/receivers/email.h"

#include <fmt/format.h>

#include <algorithm>

#include "notify/receivers/mail_message.h"

namespace vagt::notify {
namespace {

// "Mon, 02 Jan 2006 15:04:05 +0000"
std::string mail_date(Timestamp now) {
  using namespace std::chrono;
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = floor<days>(now);
  const year_month_day ymd(day);
  const hh_mm_ss time(floor<std::chrono::seconds>(now - day));
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} +0000", kDays[weekday(day).c_encoding()],
                     static_cast<unsigned>(ymd.day()),
                     kMonths[static_cast<unsigned>(ymd.month()) - 1], static_cast<int>(ymd.year()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

class EmailNotifier final : public Notifier {
 public:
  explicit EmailNotifier(const EmailConfig& config) : config_(config) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    net::SmtpRequest request;
    VAGT_CHECK_OK(connection(request));
    VAGT_TRY(std::string from, r.required("from", config_.from));
    VAGT_TRY(std::string to, r.required("to", config_.to));
    VAGT_TRY(auto senders, mail_addresses(from));
    if (senders.size() != 1) {
      return Status::invalid(
          "must be exactly one 'from' address (got: " + std::to_string(senders.size()) + ")");
    }
    request.from = senders[0];
    VAGT_TRY(request.to, mail_addresses(to));
    std::vector<MailPart> parts;
    if (!config_.text.empty()) {
      parts.push_back({"text/plain; charset=UTF-8", r.text("text", config_.text)});
    }
    if (!config_.html.empty()) {
      parts.push_back({"text/html; charset=UTF-8", r.html("html", config_.html)});
    }
    const std::string unique =
        hashed_key(n.group_key + std::to_string(to_millis(n.begun))).substr(0, 40);
    request.message = build_mail(headers(n, r, from, to, unique), unique, parts);
    return TransferRequest{std::move(request), nullptr};
  }

  SendOutcome judge(const TransferReply& reply) const override {
    SendOutcome out;
    if (reply.answered()) return out;
    // Everything is worth another try but what the server refuses for good.
    const bool refused = reply.failure.code() == Code::InvalidArgument;
    out.result = refused ? SendResult::Reject : SendResult::Retry;
    out.detail = reply.failure.message();
    out.reason = reply.failure.code() == Code::Timeout ? "contextDeadlineExceeded"
                 : refused                             ? "clientError"
                                                       : "other";
    return out;
  }

 private:
  using Headers = std::vector<std::pair<std::string, std::string>>;

  Status connection(net::SmtpRequest& request) const {
    request.host = config_.smarthost_host;
    request.port = config_.smarthost_port;
    request.hello = config_.hello;
    request.implicit_tls = config_.force_implicit_tls.value_or(config_.smarthost_port == "465");
    request.require_tls = config_.require_tls;
    request.tls = config_.tls;
    request.auth_username = config_.auth_username;
    request.auth_identity = config_.auth_identity;
    VAGT_TRY(std::string password, read_secret(config_.auth_password, config_.auth_password_file));
    request.auth_password = Secret(std::move(password));
    VAGT_TRY(std::string secret, read_secret(config_.auth_secret, config_.auth_secret_file));
    request.auth_secret = Secret(std::move(secret));
    request.timeout = Duration(0);  // the delivery's deadline
    return {};
  }

  Headers headers(const Notification& n, Renderer& r, const std::string& from,
                  const std::string& to, const std::string& unique) const {
    Headers out;
    const auto has = [&](std::string_view name) {
      return std::any_of(out.begin(), out.end(), [&](const auto& h) { return h.first == name; });
    };
    for (const auto& [name, source] : config_.headers) {
      std::string value = name == "Subject" ? r.text(name, source) : r.part(name, source);
      if (const size_t end = value.find('\n'); name == "Subject" && !n.plain_note.empty()) {
        value = value.substr(0, end);
      }
      out.emplace_back(name, std::move(value));
    }
    if (!has("From")) out.emplace_back("From", from);
    if (!has("To")) out.emplace_back("To", to);
    if (!has("Subject")) {
      out.emplace_back("Subject", r.text("Subject", R"({{ template "email.default.subject" . }})"));
    }
    const std::string domain = config_.hello.empty() ? "localhost" : config_.hello;
    if (!has("Message-Id")) out.emplace_back("Message-Id", "<" + unique + "@" + domain + ">");
    if (config_.threading) {
      const std::string day =
          config_.thread_by_date == "none" ? "" : "-" + format_rfc3339(n.now).substr(0, 10);
      const std::string root = "<" + hashed_key(n.group_key) + day + "@alertmanager>";
      out.emplace_back("References", root);
      out.emplace_back("In-Reply-To", root);
    }
    out.emplace_back("Date", mail_date(n.now));
    return out;
  }

  const EmailConfig config_;
};

}  // namespace

std::unique_ptr<Notifier> make_email_notifier(const EmailConfig& config) {
  return std::make_unique<EmailNotifier>(config);
}

}  // namespace vagt::notify

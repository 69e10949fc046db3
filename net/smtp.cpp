#include "net/smtp.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "net/client/credentials.h"
#include "net/client/curl_error.h"
#include "net/client/curl_loop.h"
#include "net/client/easy_options.h"

namespace vagt::net {
namespace {

struct SlistDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Slist = std::unique_ptr<curl_slist, SlistDeleter>;

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// A line break would be a command of its own.
Status check_address(const std::string& address) {
  const bool is_plain = std::none_of(address.begin(), address.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == 0x7f;
  });
  if (is_plain && !address.empty()) return {};
  return Status::invalid("mail address \"" + address +
                         "\" is empty or holds <, > or a control character");
}

// One mail on its way. The loop's thread only.
class SmtpTransfer {
 public:
  using Finish = std::function<void(Result<SmtpReply>)>;

  SmtpTransfer(CurlLoop& loop, SmtpRequest request, Finish finish)
      : loop_(loop), request_(std::move(request)), finish_(std::move(finish)) {}
  ~SmtpTransfer() {
    if (!easy_) return;
    loop_.abort(easy_.get());
    loop_.give_back(std::move(easy_));
  }
  SmtpTransfer(const SmtpTransfer&) = delete;
  SmtpTransfer& operator=(const SmtpTransfer&) = delete;

  void begin() {
    easy_ = loop_.take_handle();
    Status status = easy_ ? set_up() : Status(Code::Internal, "out of memory");
    if (!status.ok()) {
      finish_(std::move(status));
      return;
    }
    loop_.start(easy_.get(), [this](CURLcode code) { finish_(judge(code)); });
  }

 private:
  Status set_up();
  Status set_envelope();
  Status set_security();
  void set_login();
  Result<SmtpReply> judge(CURLcode code) const;
  std::string last_line() const;

  static size_t on_line(char* data, size_t size, size_t count, void* self);
  static size_t on_read(char* into, size_t size, size_t count, void* self);

  CurlLoop& loop_;
  const SmtpRequest request_;
  const Finish finish_;
  EasyHandle easy_;
  Slist recipients_, connect_to_;
  size_t sent_ = 0;
  std::string reply_;  // the server's last line
  std::string error_text_ = std::string(CURL_ERROR_SIZE, '\0');
};

Status SmtpTransfer::set_up() {
  CURL* const easy = easy_.get();
  const std::string& verified = request_.tls.server_name;
  const std::string host = bracketed(verified.empty() ? request_.host : verified);
  const std::string scheme = request_.implicit_tls ? "smtps://" : "smtp://";
  // libcurl says EHLO with the URL's path.
  const std::string hello = request_.hello.empty() ? "localhost" : request_.hello;
  const std::string url = scheme + host + ":" + request_.port + "/" + url_encode(hello);
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  if (!verified.empty()) {
    const std::string route =
        host + ":" + request_.port + ":" + bracketed(request_.host) + ":" + request_.port;
    connect_to_.reset(curl_slist_append(nullptr, route.c_str()));
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get());
  }
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);  // mail servers dislike idle guests
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text_.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &SmtpTransfer::on_line);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &SmtpTransfer::on_line);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  VAGT_CHECK_OK(set_envelope());
  set_login();
  return set_security();
}

Status SmtpTransfer::set_envelope() {
  CURL* const easy = easy_.get();
  VAGT_CHECK_OK(check_address(request_.from));
  if (request_.to.empty()) return Status::invalid("the mail has no recipient");
  for (const std::string& address : request_.to) {
    VAGT_CHECK_OK(check_address(address));
    curl_slist* const longer = curl_slist_append(recipients_.get(), ("<" + address + ">").c_str());
    if (longer == nullptr) return {Code::Internal, "out of memory"};
    (void)recipients_.release();
    recipients_.reset(longer);
  }
  curl_easy_setopt(easy, CURLOPT_MAIL_FROM, ("<" + request_.from + ">").c_str());
  curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, recipients_.get());
  curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                   static_cast<curl_off_t>(request_.message.size()));
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, &SmtpTransfer::on_read);
  curl_easy_setopt(easy, CURLOPT_READDATA, this);
  return {};
}

// As Alertmanager: a server that offers no AUTH gets the mail without one; PLAIN never goes over an
// open line to another machine (Go's net/smtp refuses that).
void SmtpTransfer::set_login() {
  CURL* const easy = easy_.get();
  const bool has_password = !request_.auth_password.empty();
  if (!has_password && request_.auth_secret.empty()) return;
  const bool is_private =
      request_.implicit_tls || request_.require_tls || is_loopback(request_.host);
  const char* const methods = !has_password ? "AUTH=CRAM-MD5"
                              : is_private  ? "AUTH=PLAIN;AUTH=LOGIN"
                                            : "AUTH=LOGIN";
  const Secret& secret = has_password ? request_.auth_password : request_.auth_secret;
  curl_easy_setopt(easy, CURLOPT_LOGIN_OPTIONS, methods);
  curl_easy_setopt(easy, CURLOPT_USERNAME, request_.auth_username.c_str());
  curl_easy_setopt(easy, CURLOPT_PASSWORD, secret.reveal().c_str());
  if (!request_.auth_identity.empty()) {
    curl_easy_setopt(easy, CURLOPT_SASL_AUTHZID, request_.auth_identity.c_str());
  }
}

Status SmtpTransfer::set_security() {
  const bool uses_tls = request_.implicit_tls || request_.require_tls;
  curl_easy_setopt(easy_.get(), CURLOPT_USE_SSL,
                   static_cast<long>(uses_tls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
  if (!uses_tls) return {};
  VAGT_TRY(const TlsOptions tls, load_tls(request_.tls));
  return apply_tls(easy_.get(), tls);
}

size_t SmtpTransfer::on_line(char* data, size_t size, size_t count, void* self_pointer) {
  auto& self = *static_cast<SmtpTransfer*>(self_pointer);
  const std::string_view line(data, size * count);
  if (line.starts_with("221"))
    return line.size();  // the answer to QUIT says nothing about the mail
  self.reply_ = line;
  // libcurl waits for the answer to QUIT on this thread; not for long, other mails wait too.
  const bool is_delivered = self.sent_ == self.request_.message.size();
  const bool is_refused = line.starts_with('4') || line.starts_with('5');
  if (is_delivered || is_refused) {
    curl_easy_setopt(self.easy_.get(), CURLOPT_SERVER_RESPONSE_TIMEOUT, is_delivered ? 1L : 5L);
  }
  return line.size();
}

size_t SmtpTransfer::on_read(char* into, size_t size, size_t count, void* self_pointer) {
  auto& self = *static_cast<SmtpTransfer*>(self_pointer);
  const size_t bytes = std::min(size * count, self.request_.message.size() - self.sent_);
  std::copy_n(self.request_.message.data() + self.sent_, bytes, into);
  self.sent_ += bytes;
  return bytes;
}

std::string SmtpTransfer::last_line() const {
  std::string line = reply_;
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.pop_back();
  return line;
}

Result<SmtpReply> SmtpTransfer::judge(CURLcode code) const {
  // libcurl's own CURLINFO_RESPONSE_CODE may be that of QUIT by now.
  const std::string said = last_line();
  int reply = 0;
  std::from_chars(said.data(), said.data() + said.size(), reply);
  if (code == CURLE_OK) return SmtpReply{reply, said};
  if (code == CURLE_USE_SSL_FAILED) {
    return Status::invalid("require_tls is true but " + request_.host + " does not offer STARTTLS" +
                           (reply >= 400 ? ": " + said : ""));
  }
  const bool is_refusal = reply >= 400 && code != CURLE_OPERATION_TIMEDOUT;
  if (code == CURLE_LOGIN_DENIED) {
    const std::string why = "SMTP authentication failed: ";
    if (!is_refusal) return Status::invalid(why + "no method in common with the server");
    return reply < 500 ? Status(Code::Unavailable, why + said) : Status::invalid(why + said);
  }
  if (is_refusal) return reply < 500 ? Status(Code::Unavailable, said) : Status::invalid(said);
  return curl_failure(easy_.get(), code, request_.host, request_.port, error_text_.c_str());
}

}  // namespace

struct SmtpClient::Impl {
  using Id = uint64_t;
  struct UnderWay {
    std::unique_ptr<SmtpTransfer> transfer;
    Done done;
  };

  Impl() : loop({}, [this] { cancel_all(); }) {}

  void begin(Id id, SmtpRequest request, Done done) {
    auto transfer = std::make_unique<SmtpTransfer>(
        loop, std::move(request),
        [this, id](Result<SmtpReply> reply) { finish(id, std::move(reply)); });
    SmtpTransfer& started = *transfer;
    under_way.emplace(id, UnderWay{std::move(transfer), std::move(done)});
    started.begin();
  }

  void finish(Id id, Result<SmtpReply> reply) {
    const auto found = under_way.find(id);
    if (found == under_way.end()) return;
    const UnderWay over = std::move(found->second);
    under_way.erase(found);
    over.done(std::move(reply));
  }

  void cancel_all() {
    while (!under_way.empty()) {
      finish(under_way.begin()->first, Status(Code::Cancelled, "the client is stopping"));
    }
  }

  std::atomic<Id> next_id{1};
  std::unordered_map<Id, UnderWay> under_way;  // the loop's thread
  CurlLoop loop;                               // last: its thread uses the others
};

SmtpClient::SmtpClient() : impl_(std::make_unique<Impl>()) {}
SmtpClient::~SmtpClient() = default;

void SmtpClient::send(SmtpRequest request, Done done) {
  const Impl::Id id = impl_->next_id++;
  impl_->loop.post(
      [impl = impl_.get(), id, request = std::move(request), done = std::move(done)]() mutable {
        impl->begin(id, std::move(request), std::move(done));
      });
}

}  // namespace vagt::net

// The web configuration file in force: read again when it changes.
#include <fmt/core.h>
#include <sys/stat.h>

#include <atomic>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <thread>

#include "base/worker_pool.h"
#include "net/server/password_check.h"
#include "net/server/stream_connection.h"
#include "net/server/tls_context.h"
#include "net/server/web_security.h"
#include "net/web_config.h"

namespace vagt::net {
namespace {

using TlsStream = beast::ssl_stream<beast::tcp_stream>;
using TlsContext = std::shared_ptr<asio::ssl::context>;
using std::chrono::steady_clock;

// The handshake; keeps the context for as long as the connection lives.
struct Handshake {
  TlsContext context;
  template <class Then>
  void operator()(TlsStream& stream, Then then) const {
    stream.async_handshake(asio::ssl::stream_base::server, std::move(then));
  }
};

// "" when it is not there.
std::string signature_of(const std::string& path) {
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}:{}:{}.{};", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

struct InForce {
  WebConfig config;
  TlsContext tls;
};
using InForcePtr = std::shared_ptr<const InForce>;

Result<InForcePtr> load(const std::string& path) {
  auto loaded = std::make_shared<InForce>();
  VAGT_TRY(loaded->config, load_web_config(path));
  if (loaded->config.tls) {
    VAGT_TRY(loaded->tls, make_tls_context(*loaded->config.tls).at(path));
  }
  return InForcePtr(std::move(loaded));
}

class FileSecurity final : public WebSecurity, public std::enable_shared_from_this<FileSecurity> {
 public:
  FileSecurity(std::string path, InForcePtr first, base::Logger log, Duration look_every)
      : path_(std::move(path)),
        is_tls_(first->tls != nullptr),
        log_(std::move(log)),
        look_every_(look_every),
        in_force_(std::move(first)),
        hashing_(std::make_unique<base::WorkerPool>(
            base::WorkerPool::Options{"web-password", 1, 64, 0})) {
    signature_ = signature(in_force_->config);
  }

  // A request that outlived its server may hold the last reference, on the very thread that the
  // pool's end would wait for.
  ~FileSecurity() override {
    if (std::this_thread::get_id() != hashing_thread_.load()) return;
    std::thread([pool = hashing_.release()] { delete pool; }).detach();
  }

  std::shared_ptr<Connection> make_connection(asio::ip::tcp::socket socket, ServerContext& context,
                                              std::weak_ptr<void> owner) override {
    if (!is_tls_) return net::make_connection(std::move(socket), context, std::move(owner));
    const TlsContext tls = current()->tls;
    return std::make_shared<StreamConnection<TlsStream, Handshake>>(
        TlsStream(beast::tcp_stream(std::move(socket)), *tls), Handshake{tls}, context,
        std::move(owner));
  }

  Handler guard(Handler handler) override {
    return [self = shared_from_this(), handler = std::move(handler)](
               std::shared_ptr<const ServerRequest> request, Respond respond) {
      self->admit(handler, std::move(request), std::move(respond));
    };
  }

 private:
  std::string signature(const WebConfig& config) const {
    std::string text = signature_of(path_);
    if (config.tls) {
      for (const std::string* file :
           {&config.tls->cert_file, &config.tls->key_file, &config.tls->client_ca_file})
        text += signature_of(*file);
    }
    return text;
  }

  // What is in force now; looks for changes.
  InForcePtr current() {
    base::MutexLock lock(mutex_);
    const auto now = steady_clock::now();
    if (now - looked_at_ < look_every_) return in_force_;
    looked_at_ = now;
    std::string seen = signature(in_force_->config);
    if (seen == signature_) return in_force_;
    signature_ = std::move(seen);
    auto loaded = load(path_);
    Status status = loaded.status();
    if (status.ok() && ((*loaded)->tls != nullptr) != is_tls_)
      status = Status::invalid("TLS is switched on or off by a restart only");
    if (!status.ok()) {
      log_.error("web configuration not reloaded, the last one stays", {{"err", status.message()}});
      return in_force_;
    }
    in_force_ = std::move(*loaded);
    signature_ = signature(in_force_->config);
    log_.info("web configuration reloaded", {{"file", path_}});
    return in_force_;
  }

  void admit(const Handler& handler, std::shared_ptr<const ServerRequest> request,
             Respond respond) {
    const InForcePtr now = current();
    if (!now->config.headers.empty()) {
      respond = [now, respond = std::move(respond)](ServerResponse response) {
        for (const auto& header : now->config.headers) response.headers.push_back(header);
        respond(std::move(response));
      };
    }
    if (now->config.users.empty()) return handler(std::move(request), std::move(respond));
    std::string user, password;
    if (!parse_basic(request->header("Authorization"), user, password)) return refuse(respond);
    if (passwords_.is_known_good(now->config.users, user, password))
      return handler(std::move(request), std::move(respond));
    const bool is_taken = hashing_->submit([this, now, handler, request, respond, user, password] {
      hashing_thread_ = std::this_thread::get_id();
      if (!passwords_.is_good(now->config.users, user, password)) return refuse(respond);
      handler(request, respond);
    });
    if (!is_taken) respond(ServerResponse::text(503, "too many passwords are being checked\n"));
  }

  static void refuse(const Respond& respond) {
    ServerResponse response = ServerResponse::text(401, "Unauthorized\n");
    response.headers.emplace_back("WWW-Authenticate", "Basic");
    respond(std::move(response));
  }

  const std::string path_;
  const bool is_tls_;
  const base::Logger log_;
  const Duration look_every_;
  base::Mutex mutex_;
  InForcePtr in_force_ VAGT_GUARDED_BY(mutex_);
  std::string signature_ VAGT_GUARDED_BY(mutex_);
  steady_clock::time_point looked_at_ VAGT_GUARDED_BY(mutex_){};
  PasswordCheck passwords_;
  std::atomic<std::thread::id> hashing_thread_{};
  std::unique_ptr<base::WorkerPool> hashing_;  // last: its tasks use the others
};

}  // namespace

Result<std::shared_ptr<WebSecurity>> open_web_config(const std::string& path, base::Logger log,
                                                     Duration look_every) {
  VAGT_TRY(InForcePtr first, load(path));
  return std::shared_ptr<WebSecurity>(
      std::make_shared<FileSecurity>(path, std::move(first), std::move(log), look_every));
}

}  // namespace vagt::net

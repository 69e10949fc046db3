#include "net/http_client.h"

#include <condition_variable>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "net/client/curl_loop.h"
#include "net/client/http_transfer.h"
#include "net/client/token_source.h"

namespace vagt::net {

std::string_view HttpResponse::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equals_ignoring_case(key, name)) return value;
  }
  return "";
}

// Everything but send() and cancel() runs on the loop's thread.
struct HttpClient::Impl {
  using Id = uint64_t;
  struct UnderWay {
    std::unique_ptr<HttpTransfer> transfer;
    Done done;
  };

  explicit Impl(Options given)
      : options(std::move(given)),
        tokens([this](HttpRequest request, Profile profile, Done done) {
          begin(next_id++, std::move(request), std::move(profile), std::move(done));
        }),
        loop({options.max_connections, options.max_connections_per_host},
             [this] { cancel_all(); }) {}

  Id send(HttpRequest request, Profile profile, Done done) {
    const Id id = next_id++;
    loop.post([this, id, request = std::move(request), profile = std::move(profile),
               done = std::move(done)]() mutable {
      begin(id, std::move(request), std::move(profile), std::move(done));
    });
    return id;
  }

  void begin(Id id, HttpRequest request, Profile profile, Done done) {
    if (!profile) profile = plain;
    auto transfer = std::make_unique<HttpTransfer>(
        loop, options.user_agent, std::move(request), std::move(profile),
        [this, id](Result<HttpResponse> response) { finish(id, std::move(response)); });
    HttpTransfer& started = *transfer;
    under_way.emplace(id, UnderWay{std::move(transfer), std::move(done)});
    if (!started.wants_token()) {
      started.begin("");
      return;
    }
    tokens.get(started.config(), started.time_left(), [this, id](Result<std::string> token) {
      const auto found = under_way.find(id);
      if (found == under_way.end()) return;  // cancelled meanwhile
      if (token) {
        found->second.transfer->begin(*token);
      } else {
        finish(id, token.error());
      }
    });
  }

  void finish(Id id, Result<HttpResponse> response) {
    const auto found = under_way.find(id);
    if (found == under_way.end()) return;
    const UnderWay over = std::move(found->second);
    under_way.erase(found);
    const bool was_refused = response && response->status == 401;
    if (was_refused && over.transfer->wants_token()) tokens.forget(*over.transfer->config().oauth2);
    over.done(std::move(response));
  }

  void cancel_all() {
    while (!under_way.empty()) {
      finish(under_way.begin()->first, Status(Code::Cancelled, "the client is stopping"));
    }
  }

  const Options options;
  const Profile plain = std::make_shared<HttpClientConfig>();
  std::atomic<Id> next_id{1};
  std::unordered_map<Id, UnderWay> under_way;
  TokenSource tokens;
  CurlLoop loop;  // last: its thread uses the others
};

HttpClient::HttpClient(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
HttpClient::~HttpClient() = default;

void HttpClient::send(HttpRequest request, Profile profile, Done done) {
  impl_->send(std::move(request), std::move(profile), std::move(done));
}

Result<HttpResponse> HttpClient::fetch(HttpRequest request, Profile profile, std::stop_token stop) {
  struct Waiting {
    base::Mutex mutex;
    base::CondVar done;
    std::optional<Result<HttpResponse>> result VAGT_GUARDED_BY(mutex);
  };
  const auto waiting = std::make_shared<Waiting>();
  const Impl::Id id =
      impl_->send(std::move(request), std::move(profile), [waiting](Result<HttpResponse> response) {
        base::MutexLock lock(waiting->mutex);
        waiting->result.emplace(std::move(response));
        waiting->done.notify_all();
      });
  const std::stop_callback on_stop(stop, [this, id] {
    impl_->loop.post([impl = impl_.get(), id] {
      impl->finish(id, Status(Code::Cancelled, "context canceled"));
    });
  });
  return [&]() VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(waiting->mutex);
    while (!waiting->result) waiting->done.wait(lock);
    return std::move(*waiting->result);
  }();
}

}  // namespace vagt::net

#include "net/client/curl_loop.h"

#include <signal.h>

#include <utility>

namespace vagt::net {
namespace {

constexpr size_t kPooledHandles = 64;
// libcurl's own limit is four times the transfers under way, which would drop the idle connections
// to a thousand targets that are scraped one after the other.
constexpr long kIdleConnections = 16384;
constexpr long kMaxIdleSeconds = 290;  // as Go's transport in Prometheus, five minutes

// OpenSSL writes to sockets without MSG_NOSIGNAL, and with CURLOPT_NOSIGNAL libcurl does not guard
// against it.
void block_broken_pipe_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

CURLM* make_multi(CurlLoop::Limits limits) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) return nullptr;
  CURLM* const multi = curl_multi_init();
  if (multi == nullptr) return nullptr;
  const auto total = static_cast<long>(limits.connections);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, total > 0 ? total : kIdleConnections);
  curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total);
  curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                    static_cast<long>(limits.connections_per_host));
  return multi;
}

}  // namespace

CurlLoop::CurlLoop(Limits limits, std::function<void()> at_stop)
    : at_stop_(std::move(at_stop)), multi_(make_multi(limits)) {
  thread_ = std::jthread([this] { run(); });
}

CurlLoop::~CurlLoop() {
  stopping_ = true;
  curl_multi_wakeup(multi_);
  thread_.join();
  pool_.clear();
  curl_multi_cleanup(multi_);
}

void CurlLoop::post(std::function<void()> task) {
  tasks_.post(std::move(task));
  curl_multi_wakeup(multi_);
}

void CurlLoop::run() {
  block_broken_pipe_signal();
  constexpr int kLongestWaitMillis = 600'000;
  while (true) {
    for (auto& task : tasks_.take()) task();
    int running = 0;
    curl_multi_perform(multi_, &running);
    collect_finished();
    if (stopping_) break;
    curl_multi_poll(multi_, nullptr, 0, kLongestWaitMillis, nullptr);
  }
  for (auto& task : tasks_.take()) task();
  at_stop_();
}

// `finished` may start and abort transfers; libcurl's queue of messages allows both.
void CurlLoop::collect_finished() {
  int left = 0;
  while (CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;  // the message dies with the next call
    const auto found = under_way_.find(easy);
    if (found == under_way_.end()) continue;
    const Finished finished = std::move(found->second);
    under_way_.erase(found);
    curl_multi_remove_handle(multi_, easy);
    finished(code);
  }
}

EasyHandle CurlLoop::take_handle() {
  EasyHandle easy;
  if (pool_.empty()) {
    easy.reset(curl_easy_init());
  } else {
    easy = std::move(pool_.back());
    pool_.pop_back();
  }
  if (!easy) return easy;
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_MAXAGE_CONN, kMaxIdleSeconds);
  return easy;
}

void CurlLoop::give_back(EasyHandle easy) {
  if (!easy || pool_.size() >= kPooledHandles) return;
  curl_easy_reset(easy.get());
  pool_.push_back(std::move(easy));
}

void CurlLoop::start(CURL* easy, Finished finished) {
  under_way_.emplace(easy, std::move(finished));
  const CURLMcode code = curl_multi_add_handle(multi_, easy);
  if (code == CURLM_OK) return;
  const auto found = under_way_.find(easy);
  const Finished failed = std::move(found->second);
  under_way_.erase(found);
  failed(CURLE_OUT_OF_MEMORY);
}

void CurlLoop::abort(CURL* easy) {
  if (under_way_.erase(easy) != 0) curl_multi_remove_handle(multi_, easy);
}

}  // namespace vagt::net

// One libcurl multi handle and the thread that drives it. Inside net/client only.
#pragma once

#include <curl/curl.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mailbox.h"

namespace vagt::net {

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using EasyHandle = std::unique_ptr<CURL, EasyDeleter>;

class CurlLoop {
 public:
  struct Limits {
    size_t connections = 0;  // 0: none
    size_t connections_per_host = 0;
  };
  using Finished = std::function<void(CURLcode)>;

  CurlLoop(Limits limits, std::function<void()> at_stop);
  ~CurlLoop();  // runs what was posted, then at_stop on the loop's thread, and joins it

  // Any thread: runs `task` on the loop's thread.
  void post(std::function<void()> task);

  // The rest: the loop's thread only.
  // A fresh handle with this loop's common options, taken from a small pool.
  EasyHandle take_handle();
  void give_back(EasyHandle easy);
  // Starts a transfer; `finished` runs once it is over, with the handle already detached.
  void start(CURL* easy, Finished finished);
  // Detaches without calling `finished`. No effect when it is not under way.
  void abort(CURL* easy);

 private:
  void run();
  void collect_finished();

  const std::function<void()> at_stop_;
  CURLM* const multi_;  // the loop's thread; curl_multi_wakeup from any
  std::atomic<bool> stopping_{false};
  base::Mailbox<std::function<void()>> tasks_;
  std::unordered_map<CURL*, Finished> under_way_;  // the loop's thread
  std::vector<EasyHandle> pool_;                   // the loop's thread
  std::jthread thread_;
};

}  // namespace vagt::net

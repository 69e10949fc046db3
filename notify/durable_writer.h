// Writes batches with fsync off the notify loop: what queues up meanwhile becomes one write.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/kv_store.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "notify/metrics.h"

namespace vagt::notify {

class DurableWriter {
 public:
  using Done = std::function<void(const Status&)>;
  // Null kv: everything counts as written.
  DurableWriter(KvStore* kv, NotifyMetrics& metrics, base::Logger log);
  ~DurableWriter();  // stops

  void start();
  void stop();  // writes what is queued first
  // Each `done` is called once: Ok when on disk. A batch that failed is kept and tried again.
  // Before start() and after stop() the write happens in the call. One thread at a time.
  void write(KvBatch batch, std::vector<Done> done);

 private:
  struct Request {
    KvBatch batch;
    std::vector<Done> done;
  };
  void run(std::stop_token stop);
  void commit(std::vector<Request> requests);

  KvStore* const kv_;
  NotifyMetrics& metrics_;
  const base::Logger log_;
  base::Mailbox<Request> requests_;
  KvBatch unwritten_;  // failed before; the writing thread's
  bool failing_ = false;
  std::jthread thread_;
};

}  // namespace vagt::notify

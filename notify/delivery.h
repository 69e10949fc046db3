// The one loop that sends for all receivers: render, send, judge, try again until the deadline.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/time.h"
#include "notify/metrics.h"
#include "notify/notifier.h"

namespace vagt::notify {

struct DeliveryJob {
  std::shared_ptr<const Notifier> notifier;
  std::shared_ptr<const TemplateLibrary> templates;
  Notification notification;
  std::string integration;  // type name, for metrics
  Timestamp deadline{};
};

struct DeliveryResult {
  bool sent = false;
  std::string detail, reason;         // of the failure; empty when it was sent
  std::vector<std::string> problems;  // templates that failed
  std::map<std::string, std::string> receiver_data;
  int attempts = 0;
  int failed_attempts = 0;  // of those, the ones that were tried again
};

// Owned by the notify thread. Replies come back through `post`, which runs them on that thread.
class DeliveryLoop {
 public:
  using Post = std::function<void(std::function<void()>)>;
  using Done = std::function<void(DeliveryResult)>;
  DeliveryLoop(Transport& transport, Post post, NotifyMetrics& metrics, Duration max_backoff,
               uint64_t seed);
  ~DeliveryLoop();

  void start(DeliveryJob job, Done done, Timestamp now);
  // Attempts and deadlines that are due. Call with the time of every turn.
  void step(Timestamp now);
  std::optional<Timestamp> next_due() const;
  size_t under_way() const { return jobs_.size(); }
  size_t transfers() const;  // of those, the ones that wait for an answer
  void shift(Duration by);   // the wall clock jumped

 private:
  struct Job;
  void attempt(Job& job);
  void send(Job& job, TransferRequest request);
  void on_reply(uint64_t id, int attempt, TransferReply reply);
  void accept(Job& job, TransferReply reply);
  void reject(Job& job, const SendOutcome& outcome);
  void retry(Job& job, const SendOutcome& outcome);
  void finish(uint64_t id, bool sent);
  Duration backoff(int failures);

  Transport& transport_;
  const Post post_;
  NotifyMetrics& metrics_;
  const Duration max_backoff_;
  std::mt19937_64 random_;
  std::map<uint64_t, std::unique_ptr<Job>> jobs_;
  uint64_t next_id_ = 1;
  Timestamp now_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // late replies see false
};

}  // namespace vagt::notify

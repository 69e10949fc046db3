#include "notify/delivery.h"

#include <algorithm>
#include <cmath>

namespace vagt::notify {
namespace {

constexpr Duration kFirstBackoff = std::chrono::milliseconds(500);
constexpr double kBackoffFactor = 1.5, kBackoffSpread = 0.5;
// A transfer gets its deadline as timeout; one that does not come back is given up a little later.
constexpr Duration kGrace = std::chrono::seconds(1);
constexpr Duration kShortestTimeout = std::chrono::milliseconds(10);

// What a refusal may be the message's own fault for: worth one more try as plain text.
bool blames_the_message(int status) { return status == 400 || status == 413 || status == 422; }

void limit_timeout(TransferBody& body, Duration left) {
  const auto limit = [&](Duration& timeout) {
    if (timeout.count() <= 0 || timeout > left) timeout = left;
  };
  if (auto* http = std::get_if<net::HttpRequest>(&body)) limit(http->timeout);
  if (auto* smtp = std::get_if<net::SmtpRequest>(&body)) limit(smtp->timeout);
  if (auto* exec = std::get_if<ExecTransfer>(&body)) limit(exec->timeout);
}

// Tells two forms of a message apart.
std::string content_of(const TransferBody& body) {
  if (const auto* http = std::get_if<net::HttpRequest>(&body))
    return http->url.reveal() + http->body;
  if (const auto* smtp = std::get_if<net::SmtpRequest>(&body)) return smtp->message;
  if (const auto* print = std::get_if<PrintTransfer>(&body)) return print->text;
  return std::get<ExecTransfer>(body).input;
}

}  // namespace

struct DeliveryLoop::Job {
  uint64_t id = 0;
  DeliveryJob what;
  Done done;
  DeliveryResult result;
  std::vector<TransferReply> replies;  // accepted ones
  std::optional<Timestamp> retry_at;   // not set: a transfer is under way
  Timestamp started{};
  int failures = 0;
  int last_status = 0;
  std::string sent_content;
};

DeliveryLoop::DeliveryLoop(Transport& transport, Post post, NotifyMetrics& metrics,
                           Duration max_backoff, uint64_t seed)
    : transport_(transport),
      post_(std::move(post)),
      metrics_(metrics),
      max_backoff_(max_backoff),
      random_(seed) {}

DeliveryLoop::~DeliveryLoop() { *alive_ = false; }

void DeliveryLoop::start(DeliveryJob what, Done done, Timestamp now) {
  now_ = now;
  auto job = std::make_unique<Job>();
  job->id = next_id_++;
  job->what = std::move(what);
  job->done = std::move(done);
  job->started = now;
  job->what.notification.begun = now;
  job->retry_at = now;
  Job& started = *job;
  jobs_.emplace(started.id, std::move(job));
  attempt(started);
}

void DeliveryLoop::step(Timestamp now) {
  now_ = now;
  std::vector<uint64_t> due;
  for (const auto& [id, job] : jobs_) {
    const bool overdue = now >= job->what.deadline + kGrace;
    if (overdue || (job->retry_at && *job->retry_at <= now)) due.push_back(id);
  }
  for (const uint64_t id : due) {
    const auto it = jobs_.find(id);
    if (it == jobs_.end()) continue;
    Job& job = *it->second;
    if (job.retry_at && *job.retry_at <= now && now < job.what.deadline) {
      attempt(job);
      continue;
    }
    if (job.result.detail.empty()) job.result.detail = "no answer before the deadline";
    job.result.reason = "contextDeadlineExceeded";
    finish(id, false);
  }
}

std::optional<Timestamp> DeliveryLoop::next_due() const {
  std::optional<Timestamp> next;
  for (const auto& [id, job] : jobs_) {
    const Timestamp at = job->retry_at ? std::min(*job->retry_at, job->what.deadline + kGrace)
                                       : job->what.deadline + kGrace;
    if (!next || at < *next) next = at;
  }
  return next;
}

size_t DeliveryLoop::transfers() const {
  return static_cast<size_t>(std::count_if(
      jobs_.begin(), jobs_.end(), [](const auto& entry) { return !entry.second->retry_at; }));
}

void DeliveryLoop::shift(Duration by) {
  now_ += by;
  for (auto& [id, job] : jobs_) {
    job->what.deadline += by;
    job->started += by;
    if (job->retry_at) *job->retry_at += by;
  }
}

void DeliveryLoop::attempt(Job& job) {
  job.retry_at.reset();
  job.what.notification.now = now_;
  Renderer renderer(*job.what.templates, job.what.notification);
  Result<std::optional<TransferRequest>> next = std::optional<TransferRequest>();
  if (job.replies.empty()) {
    auto first = job.what.notifier->render(job.what.notification, renderer);
    if (first.ok()) {
      next = std::optional<TransferRequest>(std::move(first).value());
    } else {
      next = std::move(first).error();
    }
  } else {
    next = job.what.notifier->follow_up(job.what.notification, renderer, job.replies);
  }
  for (const std::string& problem : renderer.errors()) {
    auto& known = job.result.problems;
    if (std::find(known.begin(), known.end(), problem) != known.end()) continue;
    known.push_back(problem);
    metrics_.failed(job.what.integration, "template");
  }
  if (!next.ok()) {
    SendOutcome outcome{SendResult::Reject, next.error().message(), "template", std::nullopt};
    if (next.error().code() == Code::Unavailable) {
      outcome.reason = "other";
      retry(job, outcome);
    } else {
      job.last_status = 0;
      reject(job, outcome);
    }
    return;
  }
  if (!next->has_value()) {
    finish(job.id, true);
    return;
  }
  send(job, std::move(**next));
}

void DeliveryLoop::send(Job& job, TransferRequest request) {
  if (job.replies.empty()) job.sent_content = content_of(request.body);
  limit_timeout(request.body, std::max(job.what.deadline - now_, kShortestTimeout));
  const int attempt = ++job.result.attempts;
  metrics_.request(job.what.integration);
  transport_.send(std::move(request),
                  [this, id = job.id, attempt, post = post_, alive = alive_](TransferReply reply) {
                    post([this, id, attempt, alive, reply = std::move(reply)]() mutable {
                      if (*alive) on_reply(id, attempt, std::move(reply));
                    });
                  });
}

void DeliveryLoop::on_reply(uint64_t id, int attempt, TransferReply reply) {
  const auto it = jobs_.find(id);
  if (it == jobs_.end() || it->second->result.attempts != attempt) return;
  Job& job = *it->second;
  const SendOutcome outcome = job.what.notifier->judge(reply);
  if (outcome.result != SendResult::Sent) metrics_.request_failed(job.what.integration);
  job.last_status = reply.status;
  switch (outcome.result) {
    case SendResult::Sent:
      accept(job, std::move(reply));
      return;
    case SendResult::Retry:
      retry(job, outcome);
      return;
    case SendResult::Reject:
      reject(job, outcome);
      return;
  }
}

void DeliveryLoop::accept(Job& job, TransferReply reply) {
  job.replies.push_back(std::move(reply));
  job.failures = 0;
  attempt(job);
}

void DeliveryLoop::retry(Job& job, const SendOutcome& outcome) {
  job.result.detail = outcome.detail;
  job.result.reason = outcome.reason;
  ++job.failures;
  ++job.result.failed_attempts;
  const Timestamp at =
      now_ + std::max(outcome.retry_after.value_or(Duration(0)), backoff(job.failures));
  if (at >= job.what.deadline) {
    finish(job.id, false);
    return;
  }
  job.retry_at = at;
}

void DeliveryLoop::reject(Job& job, const SendOutcome& outcome) {
  job.result.detail = outcome.detail;
  job.result.reason = outcome.reason;
  if (!blames_the_message(job.last_status) || !job.what.notification.plain_note.empty() ||
      !job.replies.empty()) {
    finish(job.id, false);
    return;
  }
  // Once more without any template; when that is the same message there is nothing to gain.
  job.what.notification.plain_note = "The provider refused the first form of this page (" +
                                     outcome.detail + "); this is a plain account.";
  Renderer renderer(*job.what.templates, job.what.notification);
  auto plain = job.what.notifier->render(job.what.notification, renderer);
  if (!plain.ok() || content_of(plain->body) == job.sent_content) {
    finish(job.id, false);
    return;
  }
  job.result.problems.push_back("refused: " + outcome.detail);
  metrics_.failed(job.what.integration, outcome.reason);
  send(job, std::move(plain).value());
}

void DeliveryLoop::finish(uint64_t id, bool sent) {
  const auto it = jobs_.find(id);
  const std::unique_ptr<Job> job = std::move(it->second);
  jobs_.erase(it);
  job->result.sent = sent;
  metrics_.delivered(job->what.integration, to_seconds(now_ - job->started));
  if (sent) {
    // What earlier attempts met is over, and would read as if the page had not arrived.
    job->result.detail.clear();
    job->result.reason.clear();
    job->result.receiver_data =
        job->what.notifier->receiver_data(job->what.notification, job->replies);
  } else {
    metrics_.failed(job->what.integration, job->result.reason);
  }
  job->done(std::move(job->result));
}

Duration DeliveryLoop::backoff(int failures) {
  const double grown =
      static_cast<double>(kFirstBackoff.count()) * std::pow(kBackoffFactor, failures - 1);
  const double capped = std::min(grown, static_cast<double>(max_backoff_.count()));
  std::uniform_real_distribution<double> spread(1 - kBackoffSpread, 1 + kBackoffSpread);
  return Duration(static_cast<int64_t>(capped * spread(random_)));
}

}  // namespace vagt::notify

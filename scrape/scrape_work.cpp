// Sending a scrape and what the parse workers do with the answer.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/json_writer.h"
#include "scrape/scrape_manager_impl.h"

namespace vagt::scrape {
namespace {

class HttpFetcher final : public Fetcher {
 public:
  explicit HttpFetcher(std::string user_agent) : client_(options(std::move(user_agent))) {}
  void send(net::HttpRequest request, net::HttpClient::Profile profile,
            net::HttpClient::Done done) override {
    client_.send(std::move(request), std::move(profile), std::move(done));
  }

 private:
  static net::HttpClient::Options options(std::string user_agent) {
    net::HttpClient::Options options;
    options.user_agent = std::move(user_agent);
    return options;
  }
  net::HttpClient client_;
};

net::HttpRequest request_for(const TargetIdentity& target, const ScrapeJob& job,
                             uint64_t body_limit) {
  net::HttpRequest request;
  request.url = Secret(target.url);
  request.headers = {
      {"Accept", job.accept},
      {"X-Prometheus-Scrape-Timeout-Seconds", fmt::format("{}", to_seconds(target.timeout))}};
  request.timeout = target.timeout;
  // Of an answer that is not a page; a page is taken as it arrives.
  request.max_body_bytes = std::min<uint64_t>(body_limit, 4u << 20);
  request.accept_compression = job.config.enable_compression;
  return request;
}

// A transfer that failed says of which URL, as Go's client does; limits speak for themselves.
Result<net::HttpResponse> named(Result<net::HttpResponse> answer, const std::string& url) {
  if (answer ||
      (answer.error().code() != Code::Timeout && answer.error().code() != Code::Unavailable))
    return answer;
  return Status(answer.error().code(),
                fmt::format("Get {}: {}", quote(url), answer.error().message()));
}

bool is_large_page(const net::HttpResponse& answer) {
  constexpr size_t kLarge = 1u << 20, kLargeCompressed = 64u << 10;
  const bool is_compressed = !answer.header("Content-Encoding").empty();
  return answer.body.size() > (is_compressed ? kLargeCompressed : kLarge);
}

}  // namespace

std::unique_ptr<Fetcher> make_http_fetcher(std::string user_agent) {
  return std::make_unique<HttpFetcher>(std::move(user_agent));
}

uint64_t ScrapeManager::Impl::body_limit(const ScrapeJob& job) const {
  const uint64_t configured = job.config.limits.body_size_bytes;
  return configured != 0 ? configured : options_.default_body_limit;
}

// False: stopping; nothing will run.
bool ScrapeManager::Impl::hand_over(std::function<void()> task) {
  return workers_->submit(std::move(task));
}

void ScrapeManager::Impl::send(Scrape scrape) {
  if (!scrape.forced_error.empty()) {
    take_page(scrape, Status(Code::OutOfBounds, scrape.forced_error), nullptr);
    return;
  }
  net::HttpRequest request =
      request_for(scrape.target->identity, *scrape.job, body_limit(*scrape.job));
  const auto body = std::make_shared<PageBody>(bodies_, body_limit(*scrape.job));
  request.on_body = [body](std::string_view piece) { return body->take(piece); };
  fetcher_->send(std::move(request), scrape.job->profile,
                 [this, scrape, body](Result<net::HttpResponse> answer) {
                   if (!body->fault().ok()) answer = body->fault();
                   if (answer && answer->body.empty()) answer->body = std::move(body->text());
                   take_page(scrape, std::move(answer), body);
                 });
}

// Large pages have a worker of their own, so that they do not hold up the many small ones. `body`
// holds the page's part of the budget.
void ScrapeManager::Impl::take_page(const Scrape& scrape, Result<net::HttpResponse> answer,
                                    std::shared_ptr<PageBody> body) {
  const bool is_large = answer && is_large_page(*answer);
  auto kept = std::make_shared<Result<net::HttpResponse>>(
      named(std::move(answer), scrape.target->identity.url));
  const bool taken = (is_large ? large_pages_ : workers_)->submit([this, scrape, kept, body] {
    process(scrape, *kept);
  });
  if (!taken) finish(scrape.target);
}

void ScrapeManager::Impl::process(const Scrape& scrape, const Result<net::HttpResponse>& answer) {
  // The program is ending, not the target: its series go on after the restart.
  if (!answer && answer.error().code() == Code::Cancelled) {
    finish(scrape.target);
    return;
  }
  const std::chrono::duration<double> took = clock_.steady_now() - scrape.started;
  const ScrapeOutcome outcome =
      scrape.target->loop.ingest(answer, {scrape.at, took, cut_short_.get_token()}, scrape.job,
                                 body_limit(*scrape.job), scrape.target->identity.timeout, store_);
  if (outcome.code == Code::Cancelled) {
    finish(scrape.target);
    return;
  }
  count(outcome);
  show(scrape, outcome, took);
  if (outcome.commit.ok() && options_.on_commit) {
    options_.on_commit({scrape.target->identity.labels, scrape.at, outcome.committed});
  }
  finish(scrape.target);
}

void ScrapeManager::Impl::count(const ScrapeOutcome& outcome) {
  const PageCounts& counts = outcome.counts;
  const auto add = [](base::Counter& counter, uint64_t n) {
    if (n != 0) counter.add(static_cast<double>(n));
  };
  metrics_.scrapes.add();
  add(metrics_.samples, counts.scraped);
  add(metrics_.duplicates, counts.repeated + counts.duplicate_time);
  add(metrics_.out_of_order, counts.out_of_order);
  add(metrics_.out_of_bounds, counts.out_of_bounds);
  add(metrics_.refused, counts.refused);
  if (!outcome.commit.ok()) metrics_.commits_failed.add();
  if (outcome.error.empty()) return;
  metrics_.scrapes_failed.add();
  if (outcome.error.starts_with("target_limit")) metrics_.target_limit.add();
  if (outcome.code != Code::LimitExceeded) return;
  if (outcome.error.starts_with("body size")) metrics_.body_limit.add();
  if (outcome.error.starts_with("sample limit") || outcome.error.starts_with("label_")) {
    metrics_.sample_limit.add();
  }
}

void ScrapeManager::Impl::show(const Scrape& scrape, const ScrapeOutcome& outcome,
                               std::chrono::duration<double> took) {
  ActiveTarget& target = *scrape.target;
  const Health health = outcome.error.empty() ? Health::Up : Health::Down;
  std::string error = outcome.error;
  if (!outcome.commit.ok())
    error += (error.empty() ? "" : "; ") + std::string("not stored: ") + outcome.commit.message();
  bool is_change = false;
  {
    base::MutexLock lock(target.mutex);
    is_change = health != target.view.health || error != target.view.last_error;
    target.view.health = health;
    target.view.last_error = error;
    target.view.last_scrape = scrape.at;
    target.view.last_duration_seconds = took.count();
    target.view.last_duration = std::chrono::duration_cast<Duration>(took);
    target.view.samples_scraped = outcome.counts.scraped;
    target.view.samples_kept = outcome.counts.kept;
    target.view.series_added = outcome.counts.added;
    target.view.warnings = outcome.warnings;
    target.metadata = target.loop.metadata();
  }
  if (!error.empty()) log_failure(scrape, error);
  if (!is_change) return;
  if (error.empty()) {
    log_.info("target is up",
              {{"scrape_pool", target.pool}, {"target", target.identity.labels.get("instance")}});
  } else {
    log_.warn("scrape failed", {{"scrape_pool", target.pool},
                                {"target", target.identity.labels.get("instance")},
                                {"err", error}});
  }
}

// scrape_failure_log_file: every failure, a line of JSON each. Opened anew, so that it may be
// rotated.
void ScrapeManager::Impl::log_failure(const Scrape& scrape, const std::string& error) {
  const std::string& path = scrape.job->config.failure_log_file;
  if (path.empty()) return;
  std::string line;
  base::JsonWriter(line)
      .begin_object()
      .key("time")
      .string(format_rfc3339(scrape.at))
      .key("level")
      .string("ERROR")
      .key("msg")
      .string(error)
      .key("job_name")
      .string(scrape.target->pool)
      .key("target")
      .string(scrape.target->identity.url)
      .end_object();
  line += '\n';
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const bool is_written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) ::close(file);
  if (!is_written) metrics_.failure_log_errors.add();
}

void ScrapeManager::Impl::finish(const TargetPtr& target) {
  {
    base::MutexLock lock(mutex_);
    target->is_busy = false;
  }
  work_done();
}

void ScrapeManager::Impl::work_done() {
  base::MutexLock lock(mutex_);
  --under_way_;
  if (under_way_ == 0) changed_.notify_all();
}

void ScrapeManager::Impl::end_target(const TargetPtr& target) {
  const Status ended = target->loop.end(target->due, store_);
  if (!ended.ok()) {
    log_.warn("series of a vanished target not marked stale",
              {{"scrape_pool", target->pool}, {"err", ended.message()}});
  }
  work_done();
}

}  // namespace vagt::scrape

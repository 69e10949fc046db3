#include "notify/external.h"

#include <atomic>
#include <deque>
#include <future>
#include <map>

#include "base/json_writer.h"
#include "base/mailbox.h"
#include "base/worker_pool.h"

namespace vagt::notify {
namespace {

struct Outgoing {
  Labels labels;
  Annotations annotations;
  Timestamp starts_at{}, ends_at{};
  std::string generator_url;
};

void write_alert(base::JsonWriter& w, const Outgoing& alert, const Labels& labels) {
  w.begin_object().key("labels").labels(labels);
  w.key("annotations").begin_object();
  for (const auto& [name, value] : alert.annotations) w.key(name).string(value);
  w.end_object();
  w.key("startsAt").string(format_rfc3339(alert.starts_at));
  w.key("endsAt").string(format_rfc3339(alert.ends_at));
  w.key("generatorURL").string(alert.generator_url).end_object();
}

}  // namespace

struct ExternalAlertmanagers::Impl {
  explicit Impl(Options o)
      : options(std::move(o)),
        registry(options.registry != nullptr ? *options.registry : own),
        dropped(registry.counter(
            "prometheus_notifications_dropped_total",
            "Total number of alerts dropped due to errors when sending to Alertmanager.")),
        queue_length(registry.gauge("prometheus_notifications_queue_length",
                                    "The number of alert notifications in the queue.")),
        discovered(registry.gauge("prometheus_notifications_alertmanagers_discovered",
                                  "The number of alertmanagers discovered and active.")) {
    registry
        .gauge("prometheus_notifications_queue_capacity",
               "The capacity of the alert notifications queue.")
        .set(static_cast<double>(options.queue_capacity));
  }

  base::Counter& sent(const std::string& url) {
    return registry.counter("prometheus_notifications_sent_total", "Total number of alerts sent.",
                            Labels::of({{"alertmanager", url}}));
  }
  base::Counter& errors(const std::string& url) {
    return registry.counter("prometheus_notifications_errors_total",
                            "Total number of sent alerts affected by errors.",
                            Labels::of({{"alertmanager", url}}));
  }

  void run(std::stop_token stop) {
    base::set_thread_name("alertmanagers");
    while (!stop.stop_requested()) {
      auto messages =
          mail.wait_until(std::chrono::steady_clock::now() + std::chrono::hours(1), stop);
      for (auto& alerts : messages) enqueue(std::move(alerts));
      while (!queue.empty() && !stop.stop_requested()) {
        send_batch();
        for (auto& alerts : mail.take()) enqueue(std::move(alerts));
      }
    }
    if (!options.drain_on_shutdown) return;
    for (auto& alerts : mail.take()) enqueue(std::move(alerts));
    // Once through: an Alertmanager that is down must not hold the shutdown.
    while (!queue.empty()) send_batch();
  }

  void enqueue(std::vector<Outgoing> alerts) {
    for (Outgoing& alert : alerts) queue.push_back(std::move(alert));
    if (queue.size() > options.queue_capacity) {
      const size_t over = queue.size() - options.queue_capacity;
      queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(over));
      dropped.add(static_cast<double>(over));
      options.log.warn("queue to the Alertmanagers is full, the oldest alerts are dropped",
                       {{"dropped", over}});
    }
    queue_length.set(static_cast<double>(queue.size()));
  }

  // One batch to every endpoint at once; good when one of them took it.
  void send_batch() {
    std::vector<Outgoing> batch;
    while (!queue.empty() && batch.size() < options.max_batch) {
      batch.push_back(std::move(queue.front()));
      queue.pop_front();
    }
    queue_length.set(static_cast<double>(queue.size()));
    std::shared_ptr<const std::vector<Endpoint>> targets;
    {
      base::MutexLock lock(mutex);
      targets = endpoints;
    }
    std::atomic<int> taken{0};
    std::vector<std::future<void>> answers;
    for (const Endpoint& endpoint : *targets) {
      size_t count = 0;
      std::string body = body_for(endpoint, batch, count);
      if (count == 0) {
        ++taken;
        continue;
      }
      answers.push_back(post(endpoint, std::move(body), count, taken));
    }
    for (auto& answer : answers) answer.wait();
    if (taken == 0) dropped.add(static_cast<double>(batch.size()));
  }

  static std::string body_for(const Endpoint& endpoint, const std::vector<Outgoing>& batch,
                              size_t& count) {
    std::string body;
    base::JsonWriter w(body);
    w.begin_array();
    for (const Outgoing& alert : batch) {
      const Labels labels = endpoint.relabel ? endpoint.relabel(alert.labels) : alert.labels;
      if (labels.empty()) continue;
      write_alert(w, alert, labels);
      ++count;
    }
    w.end_array();
    return body;
  }

  std::future<void> post(const Endpoint& endpoint, std::string body, size_t count,
                         std::atomic<int>& taken) {
    net::HttpRequest request;
    request.method = "POST";
    request.url = Secret(endpoint.url);
    request.headers = {{"Content-Type", "application/json"}};
    request.body = std::move(body);
    request.timeout = endpoint.timeout;
    request.max_body_bytes = 1u << 20;
    auto promise = std::make_shared<std::promise<void>>();
    auto done = promise->get_future();
    const Timestamp begun = options.clock->now();
    options.http->send(
        std::move(request), endpoint.profile,
        [this, promise, count, begun, url = endpoint.url,
         &taken](Result<net::HttpResponse> answer) {
          registry
              .histogram(
                  "prometheus_notifications_latency_histogram_seconds",
                  "Latency histogram for sending alert notifications (not including dropped).",
                  {0.01, 0.1, 1, 10}, Labels::of({{"alertmanager", url}}))
              .observe(to_seconds(options.clock->now() - begun));
          const bool good = answer.ok() && answer->status / 100 == 2;
          sent(url).add(static_cast<double>(count));
          if (good) {
            ++taken;
          } else {
            errors(url).add(static_cast<double>(count));
            options.log.error(
                "cannot send alerts to the Alertmanager",
                {{"alertmanager", url},
                 {"count", count},
                 {"error", answer.ok() ? "bad response status " + std::to_string(answer->status)
                                       : answer.error().message()}});
          }
          promise->set_value();
        });
    return done;
  }

  const Options options;
  base::Registry own;
  base::Registry& registry;
  base::Counter& dropped;
  base::Gauge &queue_length, &discovered;
  base::Mailbox<std::vector<Outgoing>> mail;
  std::deque<Outgoing> queue;  // the sending thread's
  mutable base::Mutex mutex;
  std::shared_ptr<const std::vector<Endpoint>> endpoints VAGT_GUARDED_BY(mutex) =
      std::make_shared<const std::vector<Endpoint>>();
  std::function<Labels(const Labels&)> relabel VAGT_GUARDED_BY(mutex);
  std::jthread thread;
};

ExternalAlertmanagers::ExternalAlertmanagers(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

ExternalAlertmanagers::~ExternalAlertmanagers() { stop(); }

void ExternalAlertmanagers::set_endpoints(std::vector<Endpoint> endpoints,
                                          std::function<Labels(const Labels&)> relabel) {
  impl_->discovered.set(static_cast<double>(endpoints.size()));
  for (const Endpoint& endpoint : endpoints) {
    impl_->sent(endpoint.url).add(0);
    impl_->errors(endpoint.url).add(0);
  }
  base::MutexLock lock(impl_->mutex);
  impl_->endpoints = std::make_shared<const std::vector<Endpoint>>(std::move(endpoints));
  impl_->relabel = std::move(relabel);
}

std::vector<std::string> ExternalAlertmanagers::urls() const {
  base::MutexLock lock(impl_->mutex);
  std::vector<std::string> out;
  for (const Endpoint& endpoint : *impl_->endpoints) out.push_back(endpoint.url);
  return out;
}

void ExternalAlertmanagers::publish(std::span<const Alert> alerts) {
  std::function<Labels(const Labels&)> relabel;
  {
    base::MutexLock lock(impl_->mutex);
    if (impl_->endpoints->empty()) return;
    relabel = impl_->relabel;
  }
  std::vector<Outgoing> out;
  for (const Alert& alert : alerts) {
    if (alert.state == AlertState::Pending) continue;
    Labels labels = relabel ? relabel(alert.labels) : alert.labels;
    if (labels.empty()) continue;
    out.push_back({std::move(labels), alert.annotations, alert.fired_at.value_or(alert.active_at),
                   alert.resolved_at.value_or(alert.valid_until), alert.generator_url});
  }
  if (!out.empty()) impl_->mail.post(std::move(out));
}

void ExternalAlertmanagers::start() {
  if (impl_->thread.joinable()) return;
  impl_->thread = std::jthread([this](std::stop_token stop) { impl_->run(stop); });
}

void ExternalAlertmanagers::stop() {
  if (!impl_->thread.joinable()) return;
  impl_->thread.request_stop();
  impl_->thread.join();
}

}  // namespace vagt::notify

#include "notify/manager.h"

#include <atomic>
#include <future>
#include <random>
#include <set>
#include <thread>

#include "base/mailbox.h"
#include "base/worker_pool.h"
#include "notify/dispatcher.h"
#include "notify/durable_writer.h"

namespace vagt::notify {
namespace {

using Task = std::function<void()>;

constexpr Duration kClockJump = std::chrono::seconds(1);
constexpr auto kIdle = std::chrono::hours(1);

uint64_t seed_of(uint64_t wanted) {
  if (wanted != 0) return wanted;
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

PostedAlert from_rule(const Alert& alert) {
  PostedAlert posted;
  posted.labels = alert.labels;
  posted.annotations = alert.annotations;
  posted.starts_at = alert.fired_at.value_or(alert.active_at);
  posted.ends_at = alert.resolved_at.value_or(alert.valid_until);
  posted.generator_url = alert.generator_url;
  return posted;
}

void add_routed(const RouteConfig& route, std::set<std::string>& receivers) {
  receivers.insert(route.receiver);  // "" where the parent's goes on
  for (const RouteConfig& child : route.routes) add_routed(child, receivers);
}

std::string why_nobody(const Config& config) {
  if (config.receivers.empty()) return "no receiver is configured";
  std::set<std::string> routed;
  add_routed(config.route, routed);
  for (const ReceiverConfig& receiver : config.receivers) {
    if (routed.contains(receiver.name) && !receiver.integrations.empty()) return "";
  }
  return "no receiver that a route leads to has an integration";
}

}  // namespace

struct NotifyManager::Impl {
  explicit Impl(Options o)
      : options(std::move(o)),
        metrics(options.registry),
        writer(options.kv, metrics, options.log),
        dispatcher(
            dispatcher_options(options), *options.transport,
            [mail = inbox](Task task) { mail->post(std::move(task)); }, metrics, options.log),
        started_at(options.clock->now()) {
    metrics.nobody_paged.set(1);
  }

  static Dispatcher::Options dispatcher_options(const Options& o) {
    Dispatcher::Options d;
    d.external_url = o.external_url;
    d.data_retention = o.data_retention;
    d.alert_gc_interval = o.alert_gc_interval;
    d.start_delay = o.start_delay;
    d.max_backoff = o.max_backoff;
    d.per_alertname_limit = o.per_alertname_limit;
    d.recent_deliveries = o.recent_deliveries;
    d.silence_limits = o.silence_limits;
    d.seed = seed_of(o.seed);
    return d;
  }

  // Runs `f` on the owner of the state and waits for its answer. Without a running thread the
  // caller is the owner.
  template <class F>
  auto call(F f) -> decltype(f()) {
    using R = decltype(f());
    auto promise = std::make_shared<std::promise<R>>();
    auto answer = promise->get_future();
    Task task = [promise, &f] {
      if constexpr (std::is_void_v<R>) {
        f();
        promise->set_value();
      } else {
        promise->set_value(f());
      }
    };
    bool inline_turn = false;
    {
      base::MutexLock lock(lifecycle);
      inline_turn = !running;
      inbox->post(std::move(task));
    }
    if (inline_turn) turn(turn_time.value_or(options.clock->now()));
    return answer.get();
  }

  // The messages that have arrived, those they cause included.
  void drain() {
    constexpr int kMaxRounds = 10'000;  // a transport that answers at once must not hold the loop
    for (int round = 0; round < kMaxRounds; ++round) {
      auto tasks = inbox->take();
      if (tasks.empty()) return;
      for (Task& task : tasks) task();
    }
  }

  void commit() { writer.write(dispatcher.take_batch(), std::exchange(on_commit, {})); }

  std::optional<Timestamp> turn(Timestamp now) {
    base::MutexLock lock(turn_mutex);
    turn_time = now;
    drain();
    dispatcher.step(now);
    drain();
    commit();
    turn_time.reset();
    return dispatcher.next_due();
  }

  // The wall clock, with its jumps passed on to the due times.
  Timestamp read_clock() {
    const Timestamp wall = options.clock->now();
    const auto steady = options.clock->steady_now();
    if (last_wall) {
      const Timestamp expected =
          *last_wall + std::chrono::duration_cast<Duration>(steady - last_steady);
      const Duration jump = wall - expected;
      if (jump > kClockJump || jump < -kClockJump) {
        options.log.warn("the wall clock jumped", {{"seconds", to_seconds(jump)}});
        dispatcher.shift(jump);
      }
    }
    last_wall = wall;
    last_steady = steady;
    return wall;
  }

  void run(std::stop_token stop) {
    base::set_thread_name("notify");
    while (!stop.stop_requested()) {
      const Timestamp now = read_clock();
      const auto due = turn(now);
      const auto wait = due ? std::chrono::steady_clock::duration(std::max(*due - now, Duration(0)))
                            : std::chrono::steady_clock::duration(kIdle);
      auto tasks = inbox->wait_until(std::chrono::steady_clock::now() + wait, stop);
      if (tasks.empty()) continue;
      turn_time = read_clock();
      for (Task& task : tasks) task();
      turn_time.reset();
    }
    // What is on its way to a provider gets a moment to be answered, so that it is on record.
    const auto until = std::chrono::steady_clock::now() + drain_for.load();
    while (dispatcher.transfers_under_way() > 0 && std::chrono::steady_clock::now() < until) {
      dispatcher.step_deliveries(read_clock());
      auto tasks = inbox->wait_until(
          std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(50)), {});
      for (Task& task : tasks) task();
      commit();
    }
    // Whoever asks from here on is the owner; what was asked before is answered.
    base::MutexLock lock(lifecycle);
    drain();
    commit();
    running = false;
  }

  Timestamp now() const { return turn_time.value_or(options.clock->now()); }

  const Options options;
  NotifyMetrics metrics;
  // Shared with the answers under way: one may come after the end.
  const std::shared_ptr<base::Mailbox<Task>> inbox = std::make_shared<base::Mailbox<Task>>();
  DurableWriter writer;
  Dispatcher dispatcher;                       // owned by the loop
  std::vector<DurableWriter::Done> on_commit;  // owned by the loop: answers that wait for the disk
  std::optional<Timestamp> turn_time;          // owned by the loop
  std::optional<Timestamp> last_wall;
  std::chrono::steady_clock::time_point last_steady;
  const Timestamp started_at;

  base::Mutex lifecycle;
  bool running VAGT_GUARDED_BY(lifecycle) = false;
  base::Mutex turn_mutex;  // callers take turns as owner while no thread runs
  std::atomic<bool> opened{false}, configured{false};
  std::atomic<Duration> drain_for{Duration(0)};
  base::Mutex facts_mutex;
  std::string nobody VAGT_GUARDED_BY(facts_mutex) = "no configuration is loaded";
  std::jthread thread;
};

NotifyManager::NotifyManager(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

NotifyManager::~NotifyManager() { stop(); }

Status NotifyManager::open() {
  Impl& m = *impl_;
  if (m.options.kv != nullptr) {
    VAGT_CHECK_OK(m.dispatcher.load(*m.options.kv, m.options.clock->now()));
  }
  m.opened = true;
  return {};
}

Status NotifyManager::apply(Config config) {
  Impl& m = *impl_;
  const std::string nobody = why_nobody(config);
  VAGT_TRY(auto compiled, CompiledConfig::compile(std::move(config)));
  m.call([&] { m.dispatcher.apply(std::move(compiled), m.now()); });
  m.configured = true;
  m.metrics.nobody_paged.set(nobody.empty() ? 0 : 1);
  base::MutexLock lock(m.facts_mutex);
  m.nobody = nobody;
  return {};
}

void NotifyManager::start() {
  Impl& m = *impl_;
  base::MutexLock lock(m.lifecycle);
  if (m.running) return;
  m.writer.start();
  m.thread = std::jthread([&m](std::stop_token stop) { m.run(stop); });
  m.running = true;
}

void NotifyManager::stop(Duration drain) {
  Impl& m = *impl_;
  if (!m.thread.joinable()) return;
  m.drain_for = drain;
  m.thread.request_stop();
  m.thread.join();
  base::MutexLock lock(m.turn_mutex);
  m.writer.stop();
}

std::optional<Timestamp> NotifyManager::step(Timestamp now) { return impl_->turn(now); }

void NotifyManager::publish(std::span<const Alert> alerts) {
  Impl& m = *impl_;
  m.inbox->post([&m, copy = std::vector<Alert>(alerts.begin(), alerts.end())] {
    const Timestamp now = m.now();
    std::vector<NotifyAlert> known;
    for (const Alert& alert : copy) {
      if (alert.state == AlertState::Pending) continue;
      known.push_back(complete_alert(from_rule(alert), now, Duration(0)));
    }
    m.dispatcher.put(std::move(known), now);
  });
}

Status NotifyManager::put_alerts(std::vector<PostedAlert> alerts) {
  Impl& m = *impl_;
  std::string complaints;
  auto written = std::make_shared<std::promise<void>>();
  auto on_disk = written->get_future();
  m.call([&] {
    const Timestamp now = m.now();
    const CompiledConfig* config = m.dispatcher.config();
    const Duration timeout =
        config != nullptr ? config->config.resolve_timeout : std::chrono::minutes(5);
    std::vector<NotifyAlert> good;
    for (PostedAlert& posted : alerts) {
      NotifyAlert alert = complete_alert(posted, now, timeout);
      if (const Status fault = check_alert(posted, alert); !fault.ok()) {
        complaints += (complaints.empty() ? "" : "; ") + fault.message();
        m.metrics.invalid.add();
        continue;
      }
      good.push_back(std::move(alert));
    }
    m.dispatcher.put(std::move(good), now);
    // A disk that is full does not stop paging: the alert is taken either way.
    m.on_commit.push_back([written](const Status&) { written->set_value(); });
  });
  on_disk.wait();
  return complaints.empty() ? Status() : Status::invalid(complaints);
}

std::vector<AlertView> NotifyManager::alerts(const AlertQuery& query) {
  return impl_->call([&] { return impl_->dispatcher.alerts(query, impl_->now()); });
}

std::vector<GroupView> NotifyManager::groups(const AlertQuery& query) {
  return impl_->call([&] { return impl_->dispatcher.groups(query, impl_->now()); });
}

std::vector<ReceiverView> NotifyManager::receivers(std::span<const Matcher> matchers) {
  return impl_->call([&] {
    std::vector<ReceiverView> out;
    const CompiledConfig* config = impl_->dispatcher.config();
    if (config == nullptr) return out;
    for (const ReceiverConfig& receiver : config->config.receivers) {
      ReceiverView view{receiver.name, receiver.labels};
      view.labels["name"] = receiver.name;
      if (matches_all(matchers, Labels::from_map(view.labels))) out.push_back(std::move(view));
    }
    return out;
  });
}

std::string NotifyManager::config_text() {
  return impl_->call([&] {
    const CompiledConfig* config = impl_->dispatcher.config();
    return config == nullptr ? std::string() : config->config.text;
  });
}

std::vector<DeliveryView> NotifyManager::recent_deliveries() {
  return impl_->call([&] { return impl_->dispatcher.recent(); });
}

std::vector<Silence> NotifyManager::silences() {
  return impl_->call([&] { return impl_->dispatcher.silences().list(impl_->now()); });
}

std::optional<Silence> NotifyManager::silence(const std::string& id) {
  return impl_->call([&]() -> std::optional<Silence> {
    const Silence* found = impl_->dispatcher.silences().find(id);
    return found == nullptr ? std::nullopt : std::optional<Silence>(*found);
  });
}

Result<std::string> NotifyManager::put_silence(Silence silence) {
  Impl& m = *impl_;
  auto written = std::make_shared<std::promise<Status>>();
  auto on_disk = written->get_future();
  auto id = m.call([&]() -> Result<std::string> {
    if (silence.starts_at >= silence.ends_at) {
      return Status::invalid("Failed to create silence: start time must be before end time");
    }
    if (silence.ends_at < m.now()) {
      return Status::invalid("Failed to create silence: end time can't be in the past");
    }
    auto made = m.dispatcher.put_silence(std::move(silence), m.now());
    if (made.ok()) m.on_commit.push_back([written](const Status& s) { written->set_value(s); });
    return made;
  });
  if (!id.ok()) return id;
  if (Status status = on_disk.get(); !status.ok()) {
    return std::move(status).at("the silence holds but is not on disk yet");
  }
  return id;
}

Status NotifyManager::expire_silence(const std::string& id) {
  Impl& m = *impl_;
  auto written = std::make_shared<std::promise<Status>>();
  auto on_disk = written->get_future();
  const Status done = m.call([&] {
    Status status = m.dispatcher.expire_silence(id, m.now());
    if (status.ok()) m.on_commit.push_back([written](const Status& s) { written->set_value(s); });
    return status;
  });
  if (!done.ok()) return done;
  if (Status status = on_disk.get(); !status.ok()) {
    return std::move(status).at("the silence has ended but that is not on disk yet");
  }
  return {};
}

Result<std::vector<NotifyManager::TestOutcome>> NotifyManager::send_test(
    const std::string& receiver, PostedAlert alert, Duration timeout) {
  struct Shared {
    base::Mutex mutex;
    base::CondVar changed;
    std::vector<TestOutcome>
        outcomes;  // guarded by mutex; the waiting lock is one clang cannot follow
  };
  Impl& m = *impl_;
  auto shared = std::make_shared<Shared>();
  size_t expected = 0;
  const Status started = m.call([&]() -> Status {
    if (!m.dispatcher.has_receiver(receiver)) return Status::not_found("no receiver " + receiver);
    expected = m.dispatcher.config()->receivers.at(receiver).integrations.size();
    const NotifyAlert test = complete_alert(std::move(alert), m.now(), std::chrono::minutes(5));
    m.dispatcher.send_test(
        receiver, test, m.now(), timeout, [shared](std::string integration, DeliveryResult result) {
          std::string detail = result.sent ? "accepted by the provider" : result.detail;
          for (const auto& problem : result.problems) detail += "; " + problem;
          base::MutexLock lock(shared->mutex);
          shared->outcomes.push_back({std::move(integration), result.sent, std::move(detail)});
          shared->changed.notify_all();
        });
    return {};
  });
  VAGT_CHECK_OK(started);
  std::unique_lock<base::Mutex> lock(shared->mutex);
  shared->changed.wait_for(lock, timeout + std::chrono::seconds(2),
                           [&] { return shared->outcomes.size() >= expected; });
  return shared->outcomes;
}

std::vector<std::string> NotifyManager::route(const Labels& labels) {
  return impl_->call([&] {
    std::vector<std::string> out;
    const CompiledConfig* config = impl_->dispatcher.config();
    if (config == nullptr) return out;
    for (const Route* route : config->root->match(labels)) out.push_back(route->options().receiver);
    return out;
  });
}

bool NotifyManager::ready() const { return impl_->opened && impl_->configured; }

std::string NotifyManager::nobody_paged() const {
  base::MutexLock lock(impl_->facts_mutex);
  return impl_->nobody;
}

Timestamp NotifyManager::started_at() const { return impl_->started_at; }

}  // namespace vagt::notify

#include "engine/daemon.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/metrics.h"
#include "base/mutex.h"
#include "base/version.h"
#include "base/worker_pool.h"
#include "engine/alert_fanout.h"
#include "engine/api/admin.h"
#include "engine/api/alertmanager_v2.h"
#include "engine/api/lifecycle.h"
#include "engine/api/rules_replay.h"
#include "engine/api/v1_query.h"
#include "engine/api/v1_status.h"
#include "engine/api/v1_write.h"
#include "engine/builtin_alerts.h"
#include "engine/configuration.h"
#include "engine/query_page.h"
#include "engine/self_metrics.h"
#include "engine/status_page.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/smtp.h"
#include "net/web_config.h"
#include "notify/manager.h"
#include "notify/transfer.h"
#include "rules/manager.h"
#include "scrape/scrape_manager.h"
#include "tsdb/rocks_store.h"

namespace vagt::engine {
namespace {

constexpr Duration kDefaultRetention = std::chrono::hours(15 * 24);

// Where links in alerts and pages lead when --web.external-url does not say.
std::string guess_external_url(const Flags& flags) {
  if (!flags.external_url.empty()) return flags.external_url;
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  const std::string& listen = flags.listen_addresses.front();
  return fmt::format("http://{}:{}{}", host, listen.substr(listen.rfind(':') + 1),
                     flags.route_prefix);
}

// The flag wins over the file, the file over the default.
tsdb::Retention retention(const Flags& flags, const config::StorageConfig& storage) {
  tsdb::Retention kept{kDefaultRetention, flags.retention_size};
  if (storage.retention_time.value_or(Duration::zero()) > Duration::zero())
    kept.time = *storage.retention_time;
  if (flags.retention_time > Duration::zero()) kept.time = flags.retention_time;
  if (kept.bytes == 0) kept.bytes = storage.retention_size_bytes.value_or(0);
  return kept;
}

tsdb::RocksStoreOptions store_options(const Flags& flags, const config::StorageConfig& storage,
                                      Clock& clock, base::Registry& registry,
                                      const base::Logger& log) {
  tsdb::RocksStoreOptions options;
  options.path = flags.storage_path;
  options.retention = retention(flags, storage);
  options.out_of_order_window = storage.out_of_order_time_window;
  options.max_series = static_cast<size_t>(flags.max_series);
  options.max_series_bytes = static_cast<uint64_t>(flags.max_series_bytes);
  options.clock = &clock;
  options.registry = &registry;
  options.log = log.with_component("tsdb");
  return options;
}

std::vector<BuiltinAlerts::Condition> store_alerts(const tsdb::RocksStore& store) {
  return {
      {"VagtStoreRefusesWrites", "critical",
       "vagtd stores no samples; it answers and pages from memory",
       [&store] { return store.degraded(); }},
      {"VagtSeriesRefused", "warning", "vagtd refuses new series: the cardinality budget is spent",
       [&store] { return store.over_budget(); }}};
}

rules::RuleManager::Options rule_options(const Flags& flags, tsdb::Store& store, KvStore& kv,
                                         Clock& clock, AlertSink& sink, base::Registry& registry,
                                         const base::Logger& log) {
  rules::RuleManager::Options options;
  options.store = &store;
  options.clock = &clock;
  options.kv = &kv;
  options.sink = &sink;
  options.registry = &registry;
  options.log = log.with_component("rules");
  options.external_url = guess_external_url(flags);
  options.parse = parse_options(flags);
  options.eval.lookback = flags.lookback_delta;
  options.eval.max_samples = static_cast<size_t>(flags.query_max_samples);
  options.eval.timeout = flags.query_timeout;
  options.eval.delayed_name_removal = flags.has_feature("promql-delayed-name-removal");
  options.resend_delay = flags.resend_delay;
  options.for_outage_tolerance = flags.for_outage_tolerance;
  options.for_grace_period = flags.for_grace_period;
  options.workers = static_cast<size_t>(std::max<int64_t>(1, flags.max_concurrent_evals));
  return options;
}

notify::NotifyManager::Options notify_options(const Flags& flags, KvStore& kv, Clock& clock,
                                              notify::Transport& transport,
                                              base::Registry& registry, const base::Logger& log) {
  notify::NotifyManager::Options options;
  options.kv = &kv;
  options.clock = &clock;
  options.transport = &transport;
  options.registry = &registry;
  options.log = log.with_component("notify");
  options.external_url = guess_external_url(flags);
  options.data_retention = flags.data_retention;
  options.silence_limits.max_silences = static_cast<size_t>(flags.max_silences);
  options.silence_limits.max_size_bytes = static_cast<size_t>(flags.max_silence_size_bytes);
  return options;
}

notify::ExternalAlertmanagers::Options external_options(const Flags& flags, net::HttpClient& http,
                                                        Clock& clock, base::Registry& registry,
                                                        const base::Logger& log) {
  notify::ExternalAlertmanagers::Options options;
  options.http = &http;
  options.clock = &clock;
  options.registry = &registry;
  options.log = log.with_component("notifier");
  options.queue_capacity = static_cast<size_t>(flags.notification_queue_capacity);
  options.max_batch = static_cast<size_t>(std::max<int64_t>(1, flags.notification_batch_size));
  return options;
}

size_t query_threads(const Flags& flags) {
  const size_t cores = std::max(2u, std::thread::hardware_concurrency());
  return std::min(cores, static_cast<size_t>(std::max<int64_t>(1, flags.query_max_concurrency)));
}

// Twins that scrape the same targets should not do it at the same instant.
uint64_t scrape_seed(const config::PrometheusConfig& config) {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return LabelsBuilder(config.global.external_labels).set("__host__", host).build().fingerprint();
}

}  // namespace

// In the order they are made; destroyed in reverse.
struct Daemon::Parts {
  Parts(Flags f, Clock& c, base::Logger l) : flags(std::move(f)), clock(c), log(std::move(l)) {}
  ~Parts() { stop(); }

  Status open_store(const Configuration& configuration);
  void make_parts(const Configuration& configuration);
  Status apply(Configuration configuration) VAGT_REQUIRES(applying);
  Status load(Result<Configuration> configuration) VAGT_REQUIRES(applying);
  Status reload();
  void add_routes();
  Status serve();
  void stop();
  std::string nobody_paged() const;
  api::ReloadView reload_view();

  const Flags flags;
  Clock& clock;
  const base::Logger log;
  const Timestamp started = clock.now();
  base::Registry registry;
  SelfMetrics metrics{registry, clock.now()};

  base::Mutex applying;  // one reload at a time: SIGHUP and /-/reload come on different threads
  base::Mutex view_mutex;
  api::ReloadView view VAGT_GUARDED_BY(view_mutex);
  std::shared_ptr<const api::RunningRules> running_rules VAGT_GUARDED_BY(view_mutex) =
      std::make_shared<const api::RunningRules>();
  std::atomic<int64_t> evaluation_interval_ms{60'000};
  std::atomic<bool> ready{false}, quit{false}, external_alertmanagers{false},
      alertmanagers_looked_for{false}, builtin_configured{false};

  std::unique_ptr<tsdb::RocksStore> store;
  net::HttpClient http{net::HttpClient::Options{.user_agent = fmt::format("vagtd/{}", kVersion)}};
  net::SmtpClient smtp;
  std::unique_ptr<notify::Transport> transport;
  std::unique_ptr<notify::NotifyManager> notify;
  std::unique_ptr<notify::ExternalAlertmanagers> external;
  std::unique_ptr<AlertFanout> fanout;
  std::unique_ptr<BuiltinAlerts> builtin_alerts;
  std::unique_ptr<rules::RuleManager> rules;
  std::unique_ptr<scrape::ScrapeManager> scrape;

  std::unique_ptr<base::WorkerPool> control, queries, reloads, alerts_in, alert_lists, slow;
  std::unique_ptr<api::Router> router;
  std::unique_ptr<api::QueryContext> query_context;
  std::unique_ptr<api::ReplayContext> replay_context;
  std::unique_ptr<api::StatusContext> status_context;
  std::unique_ptr<api::AlertmanagerContext> alertmanager_context;
  std::unique_ptr<api::LifecycleContext> lifecycle_context;
  std::unique_ptr<api::WriteContext> write_context;
  std::unique_ptr<api::AdminContext> admin_context;
  std::unique_ptr<StatusPageContext> page_context;
  std::unique_ptr<net::HttpServer> server;
};

Status Daemon::Parts::open_store(const Configuration& configuration) {
  VAGT_TRY(store, tsdb::RocksStore::open(store_options(flags, configuration.prometheus.storage,
                                                       clock, registry, log)));
  return {};
}

void Daemon::Parts::make_parts(const Configuration& configuration) {
  notify::TransportOptions transports;
  transports.http = &http;
  transports.smtp = &smtp;
  transports.allow_exec = flags.has_feature("exec-receiver");
  transport = notify::make_transport(std::move(transports));
  notify = std::make_unique<notify::NotifyManager>(
      notify_options(flags, store->state(), clock, *transport, registry, log));
  external = std::make_unique<notify::ExternalAlertmanagers>(
      external_options(flags, http, clock, registry, log));
  AlertFanout::Options alerts;
  alerts.user_agent = fmt::format("vagtd/{}", kVersion);
  alerts.log = log.with_component("alerting");
  alerts.counted = [this](size_t alertmanagers) {
    external_alertmanagers = alertmanagers > 0;
    metrics.nobody_paged(!nobody_paged().empty());
  };
  fanout = std::make_unique<AlertFanout>(std::move(alerts), *external, registry);
  builtin_alerts = std::make_unique<BuiltinAlerts>(store_alerts(*store), clock, *fanout, registry);
  builtin_alerts->set_generator_url(guess_external_url(flags));
  rules = std::make_unique<rules::RuleManager>(
      rule_options(flags, *store, store->state(), clock, *fanout, registry, log));
  scrape::ScrapeManagerOptions options;
  options.user_agent = fmt::format("vagtd/{}", kVersion);
  options.max_bodies_bytes = static_cast<uint64_t>(flags.max_pages_bytes);
  options.offset_seed = scrape_seed(configuration.prometheus);
  scrape = std::make_unique<scrape::ScrapeManager>(options, *store, clock, registry,
                                                   log.with_component("scrape"));
}

// Templates of pages are the one thing that load_configuration leaves unchecked, so notify comes
// first: relabelling and rules that loaded compile again, and nothing after the first swap fails.
Status Daemon::Parts::apply(Configuration configuration) {
  const config::PrometheusConfig& prometheus = configuration.prometheus;
  VAGT_TRY(auto alerting, AlertFanout::prepare(prometheus));
  const bool builtin = configuration.notify.has_value();
  if (builtin) VAGT_CHECK_OK(notify->apply(std::move(*configuration.notify)));
  VAGT_CHECK_OK(scrape->apply(prometheus.scrape_configs));
  auto running = std::make_shared<api::RunningRules>();
  running->files = configuration.rules;
  running->settings = {prometheus.global.external_labels, prometheus.global.evaluation_interval,
                       prometheus.global.rule_query_offset};
  VAGT_CHECK_OK(rules->apply(std::move(configuration.rules), running->settings));
  builtin_alerts->set_external_labels(prometheus.global.external_labels);
  builtin_configured = builtin;
  alertmanagers_looked_for = AlertFanout::has_discovery(*alerting);
  fanout->apply(std::move(alerting), builtin ? notify.get() : nullptr);
  evaluation_interval_ms = prometheus.global.evaluation_interval.count();
  const tsdb::Retention kept = retention(flags, prometheus.storage);
  store->set_retention(kept);
  store->set_out_of_order_window(prometheus.storage.out_of_order_time_window);
  store->exemplars()->set_capacity(prometheus.storage.max_exemplars);
  base::MutexLock lock(view_mutex);
  running_rules = std::move(running);
  view.config_text = prometheus.text;
  view.retention_time = kept.time;
  view.retention_size = kept.bytes;
  return {};
}

std::string Daemon::Parts::nobody_paged() const {
  if (external_alertmanagers) return "";
  if (builtin_configured) return notify->nobody_paged();
  if (alertmanagers_looked_for) return "no Alertmanager has been discovered yet";
  return "neither --alertmanager.config nor alerting: names a receiver";
}

// Puts a configuration in force and tells the log, the metrics and the page how that went.
Status Daemon::Parts::load(Result<Configuration> configuration) {
  std::vector<std::string> notices;
  std::string notify_file;
  if (configuration.ok()) {
    notices = configuration->notices;
    notify_file = configuration->notify_file;
  }
  const Status status =
      configuration.ok() ? apply(std::move(configuration).value()) : configuration.error();
  {
    base::MutexLock lock(view_mutex);
    view.success = status.ok();
    view.error = status.message();
    if (status.ok()) view.last_success = clock.now();
    metrics.reloaded(status.ok(), view.last_success);
  }
  if (!status.ok()) return status;
  for (const std::string& notice : notices) log.warn("configuration", {{"notice", notice}});
  const std::string nobody = nobody_paged();
  metrics.nobody_paged(!nobody.empty());
  if (!nobody.empty()) log.warn("NOBODY WILL BE PAGED", {{"reason", nobody}});
  log.info("configuration loaded",
           {{"file", flags.plain_alertmanager() ? "" : flags.config_file},
            {"alertmanager_file", notify_file.empty() ? "none" : notify_file}});
  return {};
}

Status Daemon::Parts::reload() {
  base::MutexLock lock(applying);
  if (!ready) return {Code::Unavailable, "vagtd is stopping"};  // of those that waited their turn
  Status status = load(load_configuration(flags));
  if (!status.ok())
    log.error("configuration not loaded, the old one stays in force", {{"err", status.message()}});
  return status;
}

api::ReloadView Daemon::Parts::reload_view() {
  base::MutexLock lock(view_mutex);
  return view;
}

void Daemon::Parts::add_routes() {
  control = std::make_unique<base::WorkerPool>(
      base::WorkerPool::Options{.name = "control", .threads = 1, .max_queue = 4096, .nice = 0});
  queries = std::make_unique<base::WorkerPool>(base::WorkerPool::Options{
      .name = "query", .threads = query_threads(flags), .max_queue = 1024, .nice = 5});
  reloads = std::make_unique<base::WorkerPool>(
      base::WorkerPool::Options{.name = "reload", .threads = 1, .max_queue = 16, .nice = 0});
  alerts_in = std::make_unique<base::WorkerPool>(
      base::WorkerPool::Options{.name = "alerts-in", .threads = 2, .max_queue = 4096, .nice = 0});
  alert_lists = std::make_unique<base::WorkerPool>(
      base::WorkerPool::Options{.name = "alert-lists", .threads = 2, .max_queue = 1024, .nice = 5});
  slow = std::make_unique<base::WorkerPool>(
      base::WorkerPool::Options{.name = "slow", .threads = 1, .max_queue = 16, .nice = 10});
  router = std::make_unique<api::Router>(*control, *queries, *reloads, flags.route_prefix);
  router->give(api::Lane::Alerts, *alerts_in);
  router->give(api::Lane::Lists, *alert_lists);
  router->give(api::Lane::Slow, *slow);
  query_context = std::make_unique<api::QueryContext>(api::QueryContext{
      *store, clock, parse_options(flags), [this] {
        query::EvalOptions options;
        options.lookback = flags.lookback_delta;
        options.max_samples = static_cast<size_t>(flags.query_max_samples);
        options.timeout = flags.query_timeout;
        options.default_subquery_step = Duration(evaluation_interval_ms.load());
        options.delayed_name_removal = flags.has_feature("promql-delayed-name-removal");
        return options;
      }});
  replay_context = std::make_unique<api::ReplayContext>(
      api::ReplayContext{*store, clock, parse_options(flags), query_context->eval_options,
                         [this] {
                           base::MutexLock lock(view_mutex);
                           return running_rules;
                         },
                         guess_external_url(flags), flags.replay_timeout,
                         static_cast<size_t>(std::max<int64_t>(0, flags.replay_max_alerts))});
  status_context = std::make_unique<api::StatusContext>(api::StatusContext{
      flags, clock, started, *store, *scrape, *rules, [this] { return reload_view(); },
      [this] {
        return api::ExternalAlertmanagers{external->urls(), {}};
      }});
  alertmanager_context =
      std::make_unique<api::AlertmanagerContext>(api::AlertmanagerContext{*notify, clock});
  lifecycle_context = std::make_unique<api::LifecycleContext>(api::LifecycleContext{
      registry, flags.enable_lifecycle || flags.plain_alertmanager(), flags.enable_lifecycle,
      [this] { return ready.load(); }, [this] { return store->degraded(); },
      [this] { return reload(); }, [this] { quit = true; }, flags.plain_alertmanager()});
  write_context = std::make_unique<api::WriteContext>(api::WriteContext{
      *store, flags.enable_remote_write_receiver, 1u << 30,
      std::make_shared<net::BodyBudget>(static_cast<uint64_t>(flags.max_bodies_bytes)),
      metrics.samples_imported(), metrics.samples_refused()});
  admin_context = std::make_unique<api::AdminContext>(
      api::AdminContext{*store, clock, flags.enable_admin_api, flags.storage_path});
  page_context = std::make_unique<StatusPageContext>(
      StatusPageContext{flags, clock, started, *store, *scrape, *rules, *notify,
                        [this] { return nobody_paged(); }, [this] { return reload_view(); }});
  api::add_query_routes(*router, *query_context);
  api::add_series_routes(*router, *query_context);
  api::add_status_routes(*router, *status_context);
  api::add_target_routes(*router, *status_context);
  api::add_rule_routes(*router, *status_context);
  api::add_replay_routes(*router, *replay_context);
  api::add_alertmanager_routes(*router, *alertmanager_context);
  api::add_lifecycle_routes(*router, *lifecycle_context);
  api::add_write_routes(*router, *write_context);
  api::add_admin_routes(*router, *admin_context);
  add_status_page(*router, *page_context);
  add_query_page(*router, *query_context);
}

Status Daemon::Parts::serve() {
  net::ServerOptions options;
  options.listen = flags.listen_addresses;
  options.max_body_bytes = static_cast<uint64_t>(flags.max_import_bytes);
  options.max_bodies_bytes = static_cast<uint64_t>(flags.max_bodies_bytes);
  options.max_connections = static_cast<size_t>(flags.max_connections);
  options.read_timeout = flags.read_timeout;
  options.cors_origin = flags.cors_origin;
  if (!flags.web_config_file.empty()) {
    VAGT_TRY(options.security,
             net::open_web_config(flags.web_config_file, log.with_component("web")));
  }
  VAGT_TRY(server,
           net::HttpServer::start(
               options,
               [this](std::shared_ptr<const net::ServerRequest> request, net::Respond respond) {
                 router->handle(std::move(request), std::move(respond));
               },
               log.with_component("web")));
  return {};
}

// Requests end first (the server has cancelled those under way), so that no reload and no query
// meets a part that has stopped.
void Daemon::Parts::stop() {
  ready = false;
  if (server) server->stop();
  reloads.reset();
  alerts_in.reset();
  alert_lists.reset();
  slow.reset();
  queries.reset();
  control.reset();
  if (scrape) scrape->stop();
  if (rules) rules->stop();
  if (builtin_alerts) builtin_alerts->stop();
  if (external) external->stop();
  if (notify) notify->stop();
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(Flags flags, Clock& clock, base::Logger log) {
  auto parts = std::make_unique<Parts>(std::move(flags), clock, std::move(log));
  for (const std::string& flag : parts->flags.without_effect)
    parts->log.warn("flag accepted without effect", {{"flag", flag}});
  for (const std::string& notice : feature_notices(parts->flags))
    parts->log.warn("feature", {{"notice", notice}});
  // A faulty configuration should not cost the time of opening the store.
  VAGT_TRY(Configuration first, load_configuration(parts->flags));
  VAGT_CHECK_OK(parts->open_store(first));
  parts->make_parts(first);
  VAGT_CHECK_OK(parts->notify->open());
  {
    base::MutexLock lock(parts->applying);
    VAGT_CHECK_OK(parts->load(std::move(first)));
  }
  parts->add_routes();
  // Notify runs before the first request can reach it; nothing scrapes or evaluates before the
  // addresses are ours.
  parts->external->start();
  parts->notify->start();
  VAGT_CHECK_OK(parts->serve());
  parts->rules->start();
  parts->builtin_alerts->start();
  parts->scrape->start();
  parts->ready = true;
  parts->log.info("ready",
                  {{"version", kVersion}, {"listen", parts->flags.listen_addresses.front()}});
  return std::unique_ptr<Daemon>(new Daemon(std::move(parts)));
}

Status Daemon::reload() { return parts_->reload(); }
bool Daemon::quit_requested() const { return parts_->quit; }

}  // namespace vagt::engine

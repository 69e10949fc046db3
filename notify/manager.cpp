#include "notify/manager.h"

#include <set>

#include "notify/manager_impl.h"

namespace vagt::notify {
namespace {

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
  m.call([&] { m.dispatcher.apply(compiled, m.now()); });
  m.configured = true;
  m.metrics.nobody_paged.set(nobody.empty() ? 0 : 1);
  base::MutexLock lock(m.facts_mutex);
  m.nobody = nobody;
  m.current = std::move(compiled);
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

bool NotifyManager::ready() const { return impl_->opened && impl_->configured; }

std::string NotifyManager::nobody_paged() const {
  base::MutexLock lock(impl_->facts_mutex);
  return impl_->nobody;
}

Timestamp NotifyManager::started_at() const { return impl_->started_at; }

}  // namespace vagt::notify

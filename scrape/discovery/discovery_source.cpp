#include "scrape/discovery/discovery_source.h"

#include <fmt/core.h>

#include "base/worker_pool.h"

namespace vagt::scrape {

bool wait_for(std::stop_token stop, Duration time) {
  base::Mutex mutex;
  base::CondVar never;
  return [&]() VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
  }();
}

void RefreshSource::run(std::stop_token stop, DiscoverySink& sink) {
  do {
    refresh(stop, sink);
  } while (wait_for(stop, refresh_interval()));
}

DiscoveryRunner::DiscoveryRunner(std::unique_ptr<DiscoverySource> source,
                                 std::function<void()> changed, base::Registry& registry,
                                 base::Logger log, std::string_view user)
    : source_(std::move(source)),
      changed_(std::move(changed)),
      log_(std::move(log)),
      updates_(registry.counter("prometheus_sd_received_updates_total",
                                "Updates received from discovery sources.",
                                Labels::of({{"name", std::string(user)}}))),
      failures_(registry.counter("prometheus_sd_refresh_failures_total",
                                 "Times a discovery source did not answer or lied.",
                                 Labels::of({{"mechanism", std::string(source_->kind())}}))) {
  thread_ = std::jthread([this](std::stop_token stop) {
    base::set_thread_name(fmt::format("sd-{}", source_->kind()));
    source_->run(std::move(stop), *this);
  });
}

DiscoveryRunner::~DiscoveryRunner() = default;

DiscoveryRunner::State DiscoveryRunner::state() const {
  base::MutexLock lock(mutex_);
  return state_;
}

void DiscoveryRunner::publish(std::optional<TargetGroups> groups, const Status& status) {
  std::string error =
      status.ok() ? "" : fmt::format("{}_sd_configs: {}", source_->kind(), status.message());
  if (!status.ok() && source_->is_refreshed()) failures_.add();
  bool was_well = true;
  {
    base::MutexLock lock(mutex_);
    const bool is_news = groups && (state_.groups == nullptr || *state_.groups != *groups);
    if (!is_news && error == state_.error) return;
    was_well = state_.error.empty();
    if (is_news) state_.groups = std::make_shared<const TargetGroups>(std::move(*groups));
    state_.error = std::move(error);
    version_ = ++state_.version;
  }
  updates_.add();
  tell(status, was_well);
  changed_();
}

void DiscoveryRunner::tell(const Status& status, bool was_well) const {
  if (!status.ok() && was_well) {
    log_.warn("discovery failed, its last targets stay",
              {{"mechanism", source_->kind()}, {"err", status.message()}});
  } else if (status.ok() && !was_well) {
    log_.info("discovery works again", {{"mechanism", source_->kind()}});
  }
}

std::string sanitize_label_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // one '_' for each character
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += fits ? c : '_';
  }
  return out;
}

std::string join_host_port(std::string_view host, uint32_t port) {
  const bool is_ipv6 = host.find(':') != std::string_view::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace vagt::scrape

// What /api/v1/targets and its relatives show.
#include <algorithm>

#include "scrape/scrape_manager_impl.h"

namespace vagt::scrape {

std::vector<TargetView> ScrapeManager::Impl::active_targets(std::string_view pool) const {
  std::vector<TargetView> views;
  base::MutexLock lock(mutex_);
  for (const auto& [name, entry] : pools_) {
    if (!pool.empty() && name != pool) continue;
    const auto first = static_cast<ptrdiff_t>(views.size());
    for (const auto& [hash, target] : entry.targets()) {
      base::MutexLock target_lock(target->mutex);
      TargetView view = target->view;
      view.pool = name;
      view.discovered_labels = target->discovered;
      view.labels = target->identity.labels;
      view.scrape_url = target->identity.url;
      view.interval = target->identity.interval;
      view.timeout = target->identity.timeout;
      views.push_back(std::move(view));
    }
    std::sort(views.begin() + first, views.end(),
              [](const TargetView& a, const TargetView& b) { return a.labels < b.labels; });
  }
  return views;
}

std::vector<DroppedTargetView> ScrapeManager::Impl::dropped_targets(std::string_view pool) const {
  std::vector<DroppedTargetView> views;
  base::MutexLock lock(mutex_);
  for (const auto& [name, entry] : pools_) {
    if (!pool.empty() && name != pool) continue;
    for (const Labels& labels : entry.dropped()) views.push_back({name, labels});
  }
  return views;
}

std::vector<PoolView> ScrapeManager::Impl::pools() const {
  std::vector<PoolView> views;
  base::MutexLock lock(mutex_);
  for (const auto& [name, entry] : pools_) {
    views.push_back({name, entry.targets().size(), entry.dropped_count(), entry.errors(),
                     entry.discovered_targets(), entry.failing_sources()});
  }
  return views;
}

std::vector<ScrapeManager::Impl::PoolSizes> ScrapeManager::Impl::pool_sizes() const {
  std::vector<PoolSizes> sizes;
  base::MutexLock lock(mutex_);
  for (const auto& [name, entry] : pools_) {
    sizes.push_back(
        {name, entry.targets().size(), entry.discovered_targets(), entry.failing_sources()});
  }
  return sizes;
}

JobPtr ScrapeManager::Impl::job_of(std::string_view pool) const {
  base::MutexLock lock(mutex_);
  const auto found = pools_.find(std::string(pool));
  return found == pools_.end() ? nullptr : found->second.job();
}

std::vector<TargetMetadata> ScrapeManager::Impl::metadata(
    const std::function<bool(const Labels&)>& wanted) const {
  std::vector<TargetMetadata> rows;
  base::MutexLock lock(mutex_);
  for (const auto& [name, entry] : pools_) {
    for (const auto& [hash, target] : entry.targets()) {
      if (!wanted(target->identity.labels)) continue;
      base::MutexLock target_lock(target->mutex);
      if (target->metadata == nullptr) continue;
      for (const MetricMetadata& m : *target->metadata) {
        rows.push_back({target->identity.labels, m.metric, m.metadata});
      }
    }
  }
  return rows;
}

}  // namespace vagt::scrape

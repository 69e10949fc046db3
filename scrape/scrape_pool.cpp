#include "scrape/scrape_pool.h"

#include <fmt/core.h>

#include <algorithm>

namespace vagt::scrape {
namespace {

constexpr size_t kMaxErrors = 20;  // per pool; the rest says no more

bool is_same_target(const TargetIdentity& a, const TargetIdentity& b) {
  return a.hash == b.hash && a.interval == b.interval && a.timeout == b.timeout;
}

std::string limit_error(size_t targets, uint64_t limit) {
  if (limit == 0 || targets <= limit) return "";
  return fmt::format("target_limit exceeded (number of targets: {}, limit: {})", targets, limit);
}

}  // namespace

void ScrapePool::set_job(JobPtr job) {
  const DiscoveryConfig none;
  const DiscoveryConfig& before = job_ != nullptr ? job_->config.discovery : none;
  const DiscoveryConfig& now = job->config.discovery;
  if (before.files != now.files) {
    file_groups.clear(), file_errors.clear();
    files = now.files.empty() ? nullptr : std::make_shared<FileDiscovery>(now.files);
    is_polling = false;
    poll_at = {};
  }
  if (before.http != now.http) {
    http_sources.clear();
    for (const HttpDiscoveryConfig& config : now.http) {
      http_sources.push_back(std::make_shared<HttpSource>());
      http_sources.back()->source = std::make_shared<HttpDiscovery>(config);
    }
  }
  job_ = std::move(job);
}

void ScrapePool::add_group(const TargetGroup& group, std::map<uint64_t, TargetIdentity>& wanted) {
  for (const auto& target : group.targets) {
    auto made = populate_target(job_->config, job_->relabel, target, group.labels);
    if (!made) {
      if (target_errors_.size() < kMaxErrors) {
        target_errors_.push_back(
            fmt::format("target in {}: {}", group.source, made.error().message()));
      }
    } else if (made->target) {
      const uint64_t hash = made->target->hash;
      wanted.try_emplace(hash, std::move(*made->target));
    } else {
      ++dropped_count_;
      const uint64_t keep = job_->config.limits.kept_dropped_targets;
      if (keep == 0 || dropped_.size() < keep) dropped_.push_back(std::move(made->discovered));
    }
  }
}

SyncResult ScrapePool::sync(std::vector<TargetPtr>& ending) {
  dropped_.clear(), dropped_count_ = 0, target_errors_.clear();
  std::map<uint64_t, TargetIdentity> wanted;
  for (const TargetGroup& group : job_->config.discovery.static_groups) add_group(group, wanted);
  for (const TargetGroup& group : file_groups) add_group(group, wanted);
  for (const auto& http : http_sources) {
    for (const TargetGroup& group : http->groups) add_group(group, wanted);
  }
  for (RunningSource& source : running) {
    source.taken = source.runner->state();
    if (source.taken.groups == nullptr) continue;
    for (const TargetGroup& group : *source.taken.groups) add_group(group, wanted);
  }
  const std::string forced = limit_error(wanted.size(), job_->config.limits.targets);

  SyncResult result;
  for (auto it = targets_.begin(); it != targets_.end();) {
    const auto still = wanted.find(it->first);
    const bool stays = still != wanted.end() && is_same_target(still->second, it->second->identity);
    if (!stays) result.vanished.push_back(it->second);
    it = stays ? std::next(it) : targets_.erase(it);
  }
  for (auto& [hash, identity] : wanted) {
    TargetPtr& target = targets_[hash];
    if (target == nullptr) {
      target = take_back(identity, ending);
      if (target == nullptr) {
        target = std::make_shared<ActiveTarget>(identity, name_, seed_, table_);
      }
      result.appeared.push_back(target);
    }
    target->job = job_;
    target->discovered = identity.discovered;
    target->forced_error = forced;
  }
  return result;
}

// The target that vanished lately and is the same; null when there is none.
TargetPtr ScrapePool::take_back(const TargetIdentity& wanted,
                                std::vector<TargetPtr>& ending) const {
  const auto back = std::find_if(ending.begin(), ending.end(), [&](const TargetPtr& target) {
    return target->pool == name_ && is_same_target(target->identity, wanted);
  });
  if (back == ending.end()) return nullptr;
  TargetPtr target = *back;
  target->is_gone = false;
  ending.erase(back);
  return target;
}

SyncResult ScrapePool::clear() {
  SyncResult result;
  for (const auto& entry : targets_) result.vanished.push_back(entry.second);
  targets_.clear();
  return result;
}

bool ScrapePool::has_news() const {
  return std::any_of(running.begin(), running.end(), [](const RunningSource& source) {
    return source.runner->version() != source.taken.version;
  });
}

size_t ScrapePool::failing_sources() const {
  size_t failing = file_errors.size();
  for (const auto& http : http_sources) failing += http->error.empty() ? 0 : 1;
  for (const RunningSource& source : running) failing += source.taken.error.empty() ? 0 : 1;
  return failing;
}

size_t ScrapePool::discovered_targets() const {
  size_t targets = 0;
  const auto add = [&targets](const std::vector<TargetGroup>& groups) {
    for (const TargetGroup& group : groups) targets += group.targets.size();
  };
  add(job_->config.discovery.static_groups);
  add(file_groups);
  for (const auto& http : http_sources) add(http->groups);
  for (const RunningSource& source : running) {
    if (source.taken.groups != nullptr) add(*source.taken.groups);
  }
  return targets;
}

std::vector<std::string> ScrapePool::errors() const {
  std::vector<std::string> errors;
  for (const std::string& kind : job_->config.discovery.unsupported) {
    errors.push_back(
        fmt::format("{}: this kind of discovery is not implemented; it finds no targets", kind));
  }
  errors.insert(errors.end(), file_errors.begin(), file_errors.end());
  for (const auto& http : http_sources) {
    if (!http->error.empty()) errors.push_back(http->error);
  }
  for (const RunningSource& source : running) {
    if (!source.taken.error.empty()) errors.push_back(source.taken.error);
  }
  errors.insert(errors.end(), target_errors_.begin(), target_errors_.end());
  return errors;
}

}  // namespace vagt::scrape

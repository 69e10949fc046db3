// What a source published, for tests to wait for.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "scrape/discovery/discovery_source.h"

namespace vagt::test {

class RecordingSink final : public scrape::DiscoverySink {
 public:
  void publish(std::optional<scrape::TargetGroups> groups, const Status& status) override {
    base::MutexLock lock(mutex_);
    if (groups) groups_ = std::move(*groups), has_groups_ = true;
    error_ = status.message();
    if (!error_.empty()) errors_.push_back(error_);
    ++count_;
    published_.notify_all();
  }
  std::vector<std::string> addresses() const {
    base::MutexLock lock(mutex_);
    return addresses_locked();
  }
  scrape::TargetGroups groups() const {
    base::MutexLock lock(mutex_);
    return groups_;
  }
  std::string error() const {
    base::MutexLock lock(mutex_);
    return error_;
  }
  // Until the published state is as wanted; false after ten seconds.
  bool wait(const std::function<bool(const std::vector<std::string>&, const std::string&)>& is_it)
      VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    return published_.wait_for(lock, std::chrono::seconds(10), [&]() VAGT_NO_THREAD_ANALYSIS {
      return count_ > 0 && is_it(addresses_locked(), error_);
    });
  }
  bool wait_addresses(const std::vector<std::string>& wanted) {
    return wait([&](const auto& addresses, const std::string& error) {
      return addresses == wanted && error.empty();
    });
  }
  // Until an error with `part` in it was published since the last call; it may be over by now.
  bool wait_error(const std::string& part) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    return published_.wait_for(lock, std::chrono::seconds(10), [&]() VAGT_NO_THREAD_ANALYSIS {
      while (next_error_ < errors_.size()) {
        if (errors_[next_error_++].find(part) != std::string::npos) return true;
      }
      return false;
    });
  }

 private:
  std::vector<std::string> addresses_locked() const VAGT_NO_THREAD_ANALYSIS {
    std::vector<std::string> out;
    for (const auto& group : groups_) {
      for (const auto& target : group.targets) out.push_back(target.at("__address__"));
    }
    std::sort(out.begin(), out.end());
    return out;
  }
  mutable base::Mutex mutex_;
  base::CondVar published_;
  scrape::TargetGroups groups_ VAGT_GUARDED_BY(mutex_);
  bool has_groups_ VAGT_GUARDED_BY(mutex_) = false;
  std::string error_ VAGT_GUARDED_BY(mutex_);
  std::vector<std::string> errors_ VAGT_GUARDED_BY(mutex_);
  size_t next_error_ VAGT_GUARDED_BY(mutex_) = 0;
  int count_ VAGT_GUARDED_BY(mutex_) = 0;
};

// A source on a thread of its own, for as long as this lives.
class RunningSource {
 public:
  explicit RunningSource(std::unique_ptr<scrape::DiscoverySource> source)
      : source_(std::move(source)),
        thread_([this](std::stop_token stop) { source_->run(std::move(stop), sink); }) {}
  RecordingSink sink;

 private:
  const std::unique_ptr<scrape::DiscoverySource> source_;
  std::jthread thread_;
};

// All labels of the target at `address`, its group's included.
inline scrape::TextMap labels_at(const scrape::TargetGroups& groups, const std::string& address) {
  for (const auto& group : groups) {
    for (const auto& target : group.targets) {
      if (target.at("__address__") != address) continue;
      scrape::TextMap labels = target;
      labels.insert(group.labels.begin(), group.labels.end());
      return labels;
    }
  }
  return {};
}

}  // namespace vagt::test

#include "scrape/discovery/listed_sources.h"

#include <filesystem>

#include "scrape/discovery.h"
#include "scrape/file_watcher.h"

namespace vagt::scrape {
namespace {

class FileSource final : public DiscoverySource {
 public:
  FileSource(std::vector<FileDiscoveryConfig> configs, Duration poll)
      : poll_(poll), folders_(folders_of(configs)), files_(std::move(configs)) {}
  std::string_view kind() const override { return "file"; }

  void run(std::stop_token stop, DiscoverySink& sink) override {
    FileWatcher watcher([this] { wake(); });
    for (bool is_first = true; !stop.stop_requested(); is_first = false) {
      if (!watcher.has_all()) watcher.watch(folders_);
      if (files_.poll() || is_first) sink.publish(files_.groups(), status());
      wait(stop);
    }
  }

 private:
  static std::vector<std::string> folders_of(const std::vector<FileDiscoveryConfig>& configs) {
    std::vector<std::string> folders;
    for (const FileDiscoveryConfig& config : configs) {
      for (const std::string& file : config.files)
        folders.push_back(std::filesystem::path(file).parent_path().string());
    }
    return folders;
  }

  Status status() const {
    if (files_.errors().empty()) return {};
    return Status::io(files_.errors().front());
  }

  void wake() {
    {
      base::MutexLock lock(mutex_);
      is_woken_ = true;
    }
    woken_.notify_all();
  }

  void wait(const std::stop_token& stop) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    woken_.wait_for(lock, stop, poll_, [this]() VAGT_NO_THREAD_ANALYSIS { return is_woken_; });
    is_woken_ = false;
  }

  const Duration poll_;
  const std::vector<std::string> folders_;
  FileDiscovery files_;
  base::Mutex mutex_;
  base::CondVar woken_;
  bool is_woken_ VAGT_GUARDED_BY(mutex_) = false;
};

class HttpSource final : public RefreshSource {
 public:
  HttpSource(HttpDiscoveryConfig config, std::string user_agent)
      : source_(std::move(config)), client_({std::move(user_agent), 0, 0}) {}
  std::string_view kind() const override { return "http"; }

 protected:
  Duration refresh_interval() const override { return source_.refresh_interval(); }

  void refresh(std::stop_token stop, DiscoverySink& sink) override {
    auto groups = source_.read(client_.fetch(source_.request(), source_.profile(), stop));
    if (stop.stop_requested()) return;
    groups ? sink.publish(std::move(*groups), {}) : sink.publish(std::nullopt, groups.error());
  }

 private:
  const HttpDiscovery source_;
  net::HttpClient client_;
};

}  // namespace

std::unique_ptr<DiscoverySource> make_file_discovery(std::vector<FileDiscoveryConfig> configs,
                                                     Duration poll) {
  return std::make_unique<FileSource>(std::move(configs), poll);
}

std::unique_ptr<DiscoverySource> make_http_discovery(HttpDiscoveryConfig config,
                                                     std::string user_agent) {
  return std::make_unique<HttpSource>(std::move(config), std::move(user_agent));
}

}  // namespace vagt::scrape

#include "scrape/file_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/worker_pool.h"

namespace vagt::scrape {
namespace {

// Replacing by rename is MOVED_TO, writing in place CLOSE_WRITE, a new symbolic link CREATE.
constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE |
                             IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

FileWatcher::FileWatcher(std::function<void()> changed)
    : changed_(std::move(changed)),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (inotify_ < 0 || wake_ < 0) return;
  thread_ = std::jthread([this](std::stop_token stop) { run(std::move(stop)); });
}

FileWatcher::~FileWatcher() {
  thread_.request_stop();
  wake();
  if (thread_.joinable()) thread_.join();
  if (inotify_ >= 0) ::close(inotify_);
  if (wake_ >= 0) ::close(wake_);
}

void FileWatcher::wake() const {
  const uint64_t one = 1;
  if (wake_ >= 0 && ::write(wake_, &one, sizeof one) < 0) {
    // It is full: the thread is being woken already.
  }
}

void FileWatcher::watch(std::vector<std::string> folders) {
  {
    base::MutexLock lock(mutex_);
    wanted_ = std::move(folders);
    is_asked_ = true;
  }
  wake();
}

bool FileWatcher::has_all() const {
  base::MutexLock lock(mutex_);
  return has_all_ && !is_asked_;
}

// True: a folder is watched that was not before; what happened in it meanwhile nobody saw.
bool FileWatcher::take_wanted() {
  std::vector<std::string> folders;
  {
    base::MutexLock lock(mutex_);
    if (!is_asked_) return false;
    folders = wanted_;
    is_asked_ = false;
    has_all_ = false;
  }
  for (auto it = watches_.begin(); it != watches_.end();) {
    const bool stays = std::find(folders.begin(), folders.end(), it->first) != folders.end();
    if (!stays) ::inotify_rm_watch(inotify_, it->second);
    it = stays ? std::next(it) : watches_.erase(it);
  }
  bool has_all = true, is_new = false;
  for (const std::string& folder : folders) {
    if (watches_.contains(folder)) continue;
    const int watch = ::inotify_add_watch(inotify_, folder.c_str(), kEvents);
    if (watch < 0) {
      has_all = false;
    } else {
      watches_[folder] = watch;
      is_new = true;
    }
  }
  base::MutexLock lock(mutex_);
  has_all_ = has_all;
  return is_new;
}

void FileWatcher::run(std::stop_token stop) {
  base::set_thread_name("file-watcher");
  while (!stop.stop_requested()) {
    pollfd ready[] = {{inotify_, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (::poll(ready, 2, -1) <= 0) continue;
    if (stop.stop_requested()) return;
    uint64_t count = 0;
    if ((ready[1].revents & POLLIN) != 0 && ::read(wake_, &count, sizeof count) < 0) continue;
    const bool is_new = take_wanted();
    const bool has_news = (ready[0].revents & POLLIN) != 0 && read_events();
    if (is_new || has_news) changed_();
  }
}

bool FileWatcher::read_events() {
  alignas(inotify_event) char buffer[16384];
  bool has_news = false;
  ssize_t got = 0;
  while ((got = ::read(inotify_, buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      has_news = true;
      if ((event.mask & (IN_IGNORED | IN_MOVE_SELF)) == 0) continue;
      // The folder is gone, or is another one now: watched again with the next call of watch().
      if ((event.mask & IN_MOVE_SELF) != 0) ::inotify_rm_watch(inotify_, event.wd);
      std::erase_if(watches_,
                    [watch = event.wd](const auto& item) { return item.second == watch; });
    }
  }
  return has_news;
}

}  // namespace vagt::scrape

// Says when something in a set of folders changed (inotify).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace vagt::scrape {

class FileWatcher {
 public:
  // `changed` runs on the watcher's thread, after files were written, replaced, made or removed.
  explicit FileWatcher(std::function<void()> changed);
  ~FileWatcher();  // joins

  // The folders to watch from now on. Returns at once: the watcher's thread asks the file system,
  // which may take its time. `changed` runs once a folder that was not watched before is.
  void watch(std::vector<std::string> folders) VAGT_EXCLUDES(mutex_);
  // False: not all of them are watched, yet or at all (one is missing, the system's limit, no
  // inotify); ask again later, and look yourself meanwhile.
  bool has_all() const VAGT_EXCLUDES(mutex_);

 private:
  void run(std::stop_token stop);
  void wake() const;
  bool take_wanted() VAGT_EXCLUDES(mutex_);
  bool read_events();

  const std::function<void()> changed_;
  const int inotify_, wake_;  // descriptors; -1: none
  mutable base::Mutex mutex_;
  std::vector<std::string> wanted_ VAGT_GUARDED_BY(mutex_);
  bool is_asked_ VAGT_GUARDED_BY(mutex_) = false;  // `wanted_` is news
  bool has_all_ VAGT_GUARDED_BY(mutex_) = false;
  std::map<std::string, int> watches_;  // by folder; the thread's own
  std::jthread thread_;
};

}  // namespace vagt::scrape

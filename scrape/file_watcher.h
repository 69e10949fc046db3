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

  // The folders to watch from now on. False: not all of them can be (one is missing, the system's
  // limit, no inotify); ask again later, and look yourself meanwhile.
  bool watch(const std::vector<std::string>& folders) VAGT_EXCLUDES(mutex_);

 private:
  void run(std::stop_token stop);
  void read_events() VAGT_EXCLUDES(mutex_);

  const std::function<void()> changed_;
  const int inotify_, wake_;  // descriptors; -1: none
  base::Mutex mutex_;
  std::map<std::string, int> watches_ VAGT_GUARDED_BY(mutex_);  // by folder
  std::jthread thread_;
};

}  // namespace vagt::scrape

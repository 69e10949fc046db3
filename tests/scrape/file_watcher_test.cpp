#include "scrape/file_watcher.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace vagt::scrape {
namespace {

using namespace std::chrono_literals;

class FileWatcherTest : public ::testing::Test {
 protected:
  FileWatcherTest() { std::filesystem::create_directories(folder); }
  ~FileWatcherTest() override { std::filesystem::remove_all(folder); }
  // Whether `action` is noticed.
  bool notices(const std::function<void()>& action) {
    const int before = changes;
    action();
    for (int i = 0; i < 5000 && changes == before; ++i) std::this_thread::sleep_for(1ms);
    return changes != before;
  }
  // What watching comes to, once the watcher has seen to it.
  bool watches(const std::vector<std::string>& folders) {
    watcher.watch(folders);
    for (int i = 0; i < 2000 && !watcher.has_all(); ++i) std::this_thread::sleep_for(1ms);
    return watcher.has_all();
  }
  const std::string folder = ::testing::TempDir() + "watched." + std::to_string(::getpid());
  std::atomic<int> changes{0};
  FileWatcher watcher{[this] { ++changes; }};
};

TEST_F(FileWatcherTest, SeesWritingReplacingLinkingAndRemoving) {
  EXPECT_TRUE(notices([&] { ASSERT_TRUE(watches({folder})); }));
  EXPECT_TRUE(notices([&] { std::ofstream(folder + "/a.json") << "[]"; }));
  EXPECT_TRUE(notices([&] {
    std::ofstream(folder + "/.tmp") << "[1]";
    std::filesystem::rename(folder + "/.tmp", folder + "/a.json");
  }));
  EXPECT_TRUE(notices([&] { std::filesystem::create_symlink("a.json", folder + "/b.json"); }));
  EXPECT_TRUE(notices([&] { std::filesystem::remove(folder + "/a.json"); }));
}

TEST_F(FileWatcherTest, AFolderThatIsReplacedIsWatchedAnew) {
  ASSERT_TRUE(watches({folder}));
  EXPECT_TRUE(notices([&] { std::filesystem::remove_all(folder); }));
  for (int i = 0; i < 5000 && watcher.has_all(); ++i) {
    watcher.watch({folder});
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(watches({folder}));
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(watches({folder}));
  EXPECT_TRUE(notices([&] { std::ofstream(folder + "/a.json") << "[]"; }));
}

TEST_F(FileWatcherTest, WhatIsNoFolderCannotBeWatched) {
  EXPECT_FALSE(watches({folder, folder + "/none"}));
  EXPECT_TRUE(watches({folder}));
}

}  // namespace
}  // namespace vagt::scrape

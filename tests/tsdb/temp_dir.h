// A directory that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace vagt::tsdb {

class TempDir {
 public:
  TempDir() {
    std::string pattern = root() + "vagt-tsdb-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  // In memory where there is room: each store is a dozen fsyncs, and a kill -9 takes no page cache.
  static std::string root() {
    std::error_code error;
    const auto space = std::filesystem::space("/dev/shm", error);
    if (!error && space.available > (uint64_t{2} << 30) && ::access("/dev/shm", W_OK) == 0)
      return "/dev/shm/";
    return ::testing::TempDir();
  }
  std::string path_;
};

}  // namespace vagt::tsdb

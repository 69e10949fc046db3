// A store with files, and a disk of its own for it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/tsdb/store_fixture.h"
#include "tests/tsdb/temp_dir.h"
#include "tsdb/rocks_store.h"

namespace vagt::tsdb {

inline Labels gpu(int i) {
  return Labels::of({{"__name__", "temp"},
                     {"gpu", std::to_string(i)},
                     {"instance", "h" + std::to_string(i / 8)}});
}

class RocksStoreTest : public ::testing::Test {
 protected:
  RocksStoreTest() {
    options_.path = dir_.path();
    options_.background = false;
    options_.clock = &clock_;
    options_.retention.time = Duration(0);
  }
  RocksStore& open() {
    store_.reset();
    auto opened = RocksStore::open(options_);
    EXPECT_THAT(opened, test::IsOk());
    store_ = std::move(*opened);
    return *store_;
  }
  void put(const Labels& labels, const Points& points) { put_into(*store_, labels, points); }
  Contents contents() { return read_store(*store_); }
  // `count` commits of one sample each for `series` series, one second apart.
  void write_rounds(int series, int first, int count) {
    for (int n = first; n < first + count; ++n) {
      auto appender = store_->appender();
      for (int i = 0; i < series; ++i)
        ASSERT_EQ(appender->append(*appender->series(gpu(i)), {from_millis(n * 1000), n + i * 0.5}),
                  Code::Ok);
      ASSERT_THAT(appender->commit(), test::IsOk());
    }
  }

  const TempDir dir_;
  test::ManualClock clock_;
  RocksStoreOptions options_;
  std::unique_ptr<RocksStore> store_;
};

// A file system of its own, so that it can really be full.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path) : path_(path) {
    std::filesystem::create_directory(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=48m") == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  // Leaves about `left` bytes.
  void fill(uint64_t left) {
    const uint64_t free = std::filesystem::space(path_).available;
    std::ofstream file(path_ + "/filler", std::ios::binary);
    const std::string piece(4096, 'x');
    for (uint64_t n = 0; n + left + piece.size() < free; n += piece.size()) file << piece;
  }
  bool make_read_only() {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=48m") == 0;
  }
  void empty() { std::filesystem::remove(path_ + "/filler"); }

 private:
  const std::string path_;
  bool mounted_ = false;
};

}  // namespace vagt::tsdb

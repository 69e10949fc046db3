// Disks that fail: an fsync that does not reach the disk, a directory that cannot be written, and
// late samples whose equal is only on disk.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "tests/tsdb/rocks_fixture.h"

namespace {

std::atomic<bool> fsync_fails{false};

int sync_or_fail(long call, int fd) {
  if (fsync_fails.load()) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(call, fd));
}

}  // namespace

// RocksDB calls these, as the program's own come before libc's.
extern "C" int fsync(int fd) { return sync_or_fail(SYS_fsync, fd); }
extern "C" int fdatasync(int fd) { return sync_or_fail(SYS_fdatasync, fd); }

namespace vagt::tsdb {
namespace {

using test::IsOk;
using test::StatusIs;

class FaultTest : public RocksStoreTest {
 protected:
  ~FaultTest() override { fsync_fails.store(false); }
  Status commit_round(int n) {
    auto appender = store_->appender();
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(appender->append(*appender->series(gpu(i)), {from_millis(n * 1000), n * 0.25}),
                Code::Ok);
    return appender->commit();
  }
};

TEST_F(FaultTest, AFailedFsyncRefusesWritesUntilTheDiskTakesThemAgain) {
  open();
  write_rounds(10, 0, 20);
  fsync_fails.store(true);
  EXPECT_FALSE(store_->step(clock_.now()).ok());
  EXPECT_NE(store_->stats().degraded.find("fsync failed"), std::string::npos)
      << store_->stats().degraded;
  EXPECT_THAT(commit_round(20), StatusIs(Code::Unavailable, "fsync failed"));
  const Contents before = contents();
  EXPECT_EQ(before.at(gpu(3)).size(), 20u);
  KvBatch delivery;
  delivery.put("delivery/1", "sent");
  EXPECT_FALSE(store_->state().write(delivery, KvStore::Sync::Yes).ok());
  // Still broken: nothing is pretended.
  store_->step(clock_.now()).ignore("the disk is broken on purpose");
  EXPECT_NE(store_->stats().degraded, "");

  fsync_fails.store(false);
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(store_->stats().degraded, "");
  EXPECT_EQ(contents(), before);
  EXPECT_THAT(store_->state().write(delivery, KvStore::Sync::Yes), IsOk());
  EXPECT_THAT(commit_round(20), IsOk());
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  const Contents last = contents();
  EXPECT_EQ(last.at(gpu(3)).size(), 21u);
  open();
  EXPECT_EQ(contents(), last);
}

TEST_F(FaultTest, AReadOnlyDirectoryIsRefusedByName) {
  SmallDisk disk(dir_ / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: cannot mount a tmpfs (needs root)";
  options_.path = dir_ / "disk/data";
  open();
  write_rounds(10, 0, 20);
  const Contents before = contents();
  store_.reset();
  ASSERT_TRUE(disk.make_read_only());
  const auto refused = RocksStore::open(options_);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find(options_.path), std::string::npos);
  EXPECT_NE(refused.error().message().find("Read-only file system"), std::string::npos)
      << refused.error().message();
  EXPECT_EQ(refused.error().message().find("in use"), std::string::npos)
      << refused.error().message();
  options_.path = dir_ / "disk/another";
  const auto fresh = RocksStore::open(options_);
  ASSERT_FALSE(fresh.ok());
  EXPECT_NE(fresh.error().message().find("Read-only file system"), std::string::npos)
      << fresh.error().message();
  ASSERT_EQ(::mount("tmpfs", (dir_ / "disk").c_str(), "tmpfs", MS_REMOUNT, "size=48m"), 0);
  options_.path = dir_ / "disk/data";
  open();
  EXPECT_EQ(contents(), before);
  store_.reset();
}

TEST_F(FaultTest, ARemovedDirectoryIsNoticedAndSaidAloud) {
  options_.path = dir_ / "data";
  open();
  write_rounds(10, 0, 20);
  const Contents before = contents();
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  ASSERT_EQ(store_->degraded(), "");
  std::filesystem::rename(options_.path, dir_ / "elsewhere");
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_NE(store_->degraded().find(options_.path + " or its files were removed"),
            std::string::npos)
      << store_->degraded();
  EXPECT_THAT(commit_round(20), StatusIs(Code::Unavailable, "were removed"));
  EXPECT_EQ(contents(), before);
  // Another one in its place is not ours.
  std::filesystem::create_directory(options_.path);
  std::ofstream(options_.path + "/CURRENT") << "MANIFEST-000001\n";
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_NE(store_->degraded(), "");
  // Back again: nothing was lost.
  std::filesystem::remove_all(options_.path);
  std::filesystem::rename(dir_ / "elsewhere", options_.path);
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_EQ(store_->degraded(), "");
  EXPECT_THAT(commit_round(20), IsOk());
  const Contents last = contents();
  open();
  EXPECT_EQ(contents(), last);
}

TEST_F(FaultTest, RemovedFilesAreNoticedBehindAFullDisk) {
  SmallDisk disk(dir_ / "disk");
  if (!disk.mounted()) GTEST_SKIP() << "SKIPPED: cannot mount a tmpfs (needs root)";
  options_.path = dir_ / "disk/data";
  open();
  write_rounds(10, 0, 20);
  disk.fill(1 << 20);
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  ASSERT_NE(store_->degraded().find("disk full"), std::string::npos) << store_->degraded();
  for (const auto& entry : std::filesystem::directory_iterator(options_.path))
    std::filesystem::remove_all(entry);
  ASSERT_THAT(store_->step(clock_.now()), IsOk());
  EXPECT_NE(store_->degraded().find("were removed"), std::string::npos) << store_->degraded();
  EXPECT_EQ(contents().at(gpu(3)).size(), 20u);
  store_.reset();
}

TEST_F(FaultTest, ALateSampleIsComparedWithWhatIsOnlyOnDisk) {
  options_.out_of_order_window = std::chrono::hours(1);
  open();
  write_rounds(2, 0, 100);
  ASSERT_THAT(store_->flush(), IsOk());
  ASSERT_EQ(store_->stats().head_chunks, 0u);
  auto appender = store_->appender();
  const SeriesRef ref = *appender->series(gpu(0));
  EXPECT_EQ(appender->append(ref, {from_millis(50'000), 50}), Code::Ok);
  EXPECT_EQ(appender->append(ref, {from_millis(50'000), 51}), Code::Duplicate);
  EXPECT_EQ(appender->append(ref, {from_millis(50'001), 51}), Code::Ok);
  EXPECT_EQ(appender->append(ref, {from_millis(50'001), 52}), Code::Duplicate);
  ASSERT_THAT(appender->commit(), IsOk());
  appender.reset();
  const Points merged = contents().at(gpu(0));
  EXPECT_EQ(merged.size(), 101u);
  EXPECT_EQ(merged[51], (PlainPoint{50'001, 51}));
  // The late one goes to disk as well, and is known there too.
  ASSERT_THAT(store_->flush(), IsOk());
  open();
  EXPECT_EQ(contents().at(gpu(0)), merged);
  appender = store_->import_appender();
  const SeriesRef again = *appender->series(gpu(0));
  EXPECT_EQ(appender->append(again, {from_millis(50'001), 52}), Code::Duplicate);
  EXPECT_EQ(appender->append(again, {from_millis(99'000), 99}), Code::Ok);
  EXPECT_EQ(appender->append(again, {from_millis(98'000), 1}), Code::Duplicate);
}

}  // namespace
}  // namespace vagt::tsdb

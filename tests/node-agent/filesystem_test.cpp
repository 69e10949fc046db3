#include <atomic>
#include <thread>

#include "node-agent/mount_prober.h"
#include "tests/node-agent/fake_host.h"

namespace vagt::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Filesystem, RecordedMounts) {
  FakeHost host;
  host.filters().filesystem_types = NameFilter::make("", "^proc$").value();
  host.file("proc/1/mountinfo",
            "1 0 8:1 / / rw,relatime - ext4 /dev/md0 rw\n"
            "2 1 8:2 / /data/nvme\\0403 ro master:1 - xfs /dev/nvme3n1 rw\n"
            "3 1 0:5 / /proc rw - proc proc rw\n"
            "4 1 0:6 / /mnt/models rw - nfs4 nas-01:/models rw\nrubbish\n");
  host.file("statfs",
            "mountpoint\tf_bsize\tf_blocks\tf_bfree\tf_bavail\tf_files\tf_ffree\terrno\n"
            "/\t4096\t100\t50\t40\t10\t5\t0\n/data/nvme 3\t512\t2\t1\t1\t0\t0\t0\n"
            "/mnt/models\t0\t0\t0\t0\t0\t0\tTIMEOUT\n");
  host.sources().fixtures.statfs = host.path("statfs");
  const std::string page = host.run(make_filesystem);
  EXPECT_THAT(page, HasSubstr("node_filesystem_avail_bytes{device=\"/dev/md0\",device_error=\"\","
                              "fstype=\"ext4\",mountpoint=\"/\"} 163840\n"));
  EXPECT_THAT(page, HasSubstr("node_filesystem_readonly{device=\"/dev/nvme3n1\",device_error=\"\","
                              "fstype=\"xfs\",mountpoint=\"/data/nvme 3\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("device_error=\"mountpoint timeout\",fstype=\"nfs4\","
                              "mountpoint=\"/mnt/models\"} 1\n"));
  EXPECT_THAT(page, Not(HasSubstr("size_bytes{device=\"nas-01")));
  EXPECT_THAT(page, Not(HasSubstr("mountpoint=\"/proc\"")));
}

std::atomic<bool> hang{false};

MountStats maybe_hang(const std::string& path) {
  while (path == "/dead" && hang.load()) std::this_thread::yield();
  MountStats stats;
  stats.blocks = path.size();
  return stats;
}

TEST(MountProber, ADeadMountDelaysNobodyElse) {
  hang = true;
  MountProber prober(maybe_hang, 10ms);
  auto answers = prober.probe({"/dead", "/", "/a"}, 5s);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_TRUE(answers[0]->timed_out);
  EXPECT_EQ(answers[1]->blocks, 1u);
  EXPECT_EQ(answers[2]->blocks, 2u);
  // It still hangs: the next round does not wait for it at all.
  const auto began = std::chrono::steady_clock::now();
  answers = prober.probe({"/dead", "/"}, 5s);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
  EXPECT_TRUE(answers[0]->timed_out);
  EXPECT_FALSE(answers[1]->timed_out);
  hang = false;
  do {
    answers = prober.probe({"/dead"}, 100ms);
  } while (answers[0] && answers[0]->timed_out);
  EXPECT_EQ(answers[0]->blocks, 5u);
}

TEST(MountProber, AsksTheSystem) {
  MountProber prober(stat_mount, 5s);
  const auto answers = prober.probe({"/", "/no/such/place"}, 5s);
  EXPECT_EQ(answers[0]->error, 0);
  EXPECT_GT(answers[0]->blocks, 0u);
  EXPECT_EQ(answers[1]->error, ENOENT);
}

}  // namespace
}  // namespace vagt::agent

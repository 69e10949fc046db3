// kill -9 at random moments: what was acknowledged is there, and nothing else.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/tsdb/store_fixture.h"
#include "tests/tsdb/temp_dir.h"
#include "tsdb/rocks_store.h"

namespace vagt::tsdb {
namespace {

constexpr int kSeries = 40;

Labels label(int i) { return Labels::of({{"__name__", "crash"}, {"i", std::to_string(i)}}); }
double value(int i, uint64_t n) { return double(n * 7 % 1000) / 4 + i; }
// Series appear over time, so that creation is interrupted too.
int series_at(uint64_t n) { return std::min<int>(kSeries, 3 + int(n / 50)); }

RocksStoreOptions options_for(const std::string& path, test::ManualClock& clock) {
  RocksStoreOptions options;
  options.path = path;
  options.clock = &clock;
  options.background = false;
  options.retention.time = Duration(0);
  options.journal_bytes = 100'000;  // so that checkpoints are interrupted
  return options;
}

// Runs in the child: commits round after round and acknowledges each on `fd` until it is killed.
void run_child(const std::string& path, uint64_t first, int fd) {
  test::ManualClock clock;
  auto store = RocksStore::open(options_for(path, clock));
  if (!store) ::_exit(3);
  for (uint64_t n = first;; ++n) {
    auto appender = (*store)->appender();
    for (int i = 0; i < series_at(n); ++i)
      if (appender->append(*appender->series(label(i)),
                           {from_millis(int64_t(n) * 60'000), value(i, n)}) != Code::Ok)
        ::_exit(4);
    if (!appender->commit().ok()) ::_exit(5);
    if (::write(fd, &n, sizeof n) != sizeof n) ::_exit(6);
    if (n % 20 == 0 && !(*store)->step(clock.now()).ok()) ::_exit(7);
    if (n % 400 == 0 && !(*store)->flush().ok()) ::_exit(8);
    if (n % 900 == 0) clock.advance(std::chrono::hours(2));  // series retire, days are rewritten
  }
}

// Likewise, but most of its time goes into sealing, retention and snapshots.
constexpr int64_t kUpkeepStep = 1'800'000;
constexpr auto kUpkeepKept = std::chrono::hours(36);
void run_upkeep_child(const std::string& path, uint64_t first, int fd) {
  test::ManualClock clock;
  auto options = options_for(path, clock);
  options.retention.time = kUpkeepKept;
  options.idle_after = std::chrono::hours(6);
  auto store = RocksStore::open(options);
  if (!store) ::_exit(3);
  for (uint64_t n = first;; ++n) {
    clock.set(from_millis(int64_t(n) * kUpkeepStep));
    auto appender = (*store)->appender();
    for (int i = 0; i < kSeries; ++i)
      if (appender->append(*appender->series(label(i)), {clock.now(), value(i, n)}) != Code::Ok)
        ::_exit(4);
    if (!appender->commit().ok()) ::_exit(5);
    if (::write(fd, &n, sizeof n) != sizeof n) ::_exit(6);
    if (n % 3 == 0 && !(*store)->step(clock.now()).ok()) ::_exit(7);
    if (n % 5 == 0 && !(*store)->flush().ok()) ::_exit(8);
    if (n % 7 != 0) continue;
    std::error_code error;
    std::filesystem::remove_all(path + ".snapshot", error);
    if (!(*store)->snapshot(path + ".snapshot").ok()) ::_exit(10);
  }
}

TEST(CrashChild, DISABLED_Run) {
  const char* path = std::getenv("VAGT_CRASH_PATH");
  ASSERT_NE(path, nullptr) << "only the crash tests run this";
  const auto run =
      std::string_view(std::getenv("VAGT_CRASH_KIND")) == "upkeep" ? run_upkeep_child : run_child;
  run(path, std::strtoull(std::getenv("VAGT_CRASH_FIRST"), nullptr, 10),
      std::atoi(std::getenv("VAGT_CRASH_FD")));
}

// When a child dies: after so many rounds, however slow the machine is, and a moment.
struct Life {
  uint64_t rounds;
  std::chrono::microseconds moment;
};
Life any_life(std::mt19937& random, uint64_t most_rounds) {
  return {random() % most_rounds, std::chrono::microseconds(random() % 20'000)};
}

// Starts a child (by exec: RocksDB's threads do not survive a fork), kills it at the end of `life`,
// and returns the last round it acknowledged, or `first - 1`.
uint64_t run_and_kill(const std::string& kind, const std::string& path, uint64_t first, Life life) {
  int fds[2];
  if (::pipe(fds) != 0) return first - 1;
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("VAGT_CRASH_KIND", kind.c_str(), 1);
    ::setenv("VAGT_CRASH_PATH", path.c_str(), 1);
    ::setenv("VAGT_CRASH_FIRST", std::to_string(first).c_str(), 1);
    ::setenv("VAGT_CRASH_FD", std::to_string(fds[1]).c_str(), 1);
    ::close(1);
    ::execl("/proc/self/exe", "crash", "--gtest_filter=CrashChild.DISABLED_Run",
            "--gtest_also_run_disabled_tests", nullptr);
    ::_exit(9);
  }
  ::close(fds[1]);
  uint64_t last = first - 1, n = 0;
  std::jthread killer;
  const auto kill_later = [&] {
    killer = std::jthread([child, moment = life.moment] {
      std::this_thread::sleep_for(moment);
      ::kill(child, SIGKILL);
    });
  };
  if (life.rounds == 0) kill_later();  // opening, perhaps
  while (::read(fds[0], &n, sizeof n) == sizeof n) {
    last = n;
    if (!killer.joinable() && n >= first + life.rounds - 1) kill_later();
  }
  if (killer.joinable()) killer.join();
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(fds[0]);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
  return last;
}

// All rounds up to `last`, the one in flight perhaps, and nothing else. Returns the last one found.
uint64_t verify(const std::string& path, uint64_t last) {
  test::ManualClock clock;
  auto store = RocksStore::open(options_for(path, clock));
  EXPECT_THAT(store, test::IsOk());
  const Contents found = read_store(**store);
  uint64_t newest = 0;
  for (const auto& [labels, points] : found)
    newest = std::max(newest, uint64_t(points.back().t / 60'000));
  EXPECT_GE(newest, last);
  EXPECT_LE(newest, last + 1);
  EXPECT_EQ(found.size(), size_t(series_at(newest)));
  for (int i = 0; i < series_at(newest); ++i) {
    Points expected;
    for (uint64_t n = 1; n <= newest; ++n)
      if (i < series_at(n)) expected.push_back({int64_t(n) * 60'000, value(i, n)});
    const auto it = found.find(label(i));
    if (it == found.end() || it->second != expected) {
      ADD_FAILURE() << "series " << i << " differs after round " << last << ": "
                    << (it == found.end() ? 0 : it->second.size()) << " samples, expected "
                    << expected.size();
      break;
    }
  }
  return newest;
}

void cycles(int count, unsigned seed) {
  const TempDir dir;
  std::mt19937 random(seed);
  uint64_t last = 0;
  for (int cycle = 0; cycle < count && !::testing::Test::HasFailure(); ++cycle) {
    last = run_and_kill("commits", dir.path(), last + 1, any_life(random, 500));
    last = verify(dir.path(), last);
  }
  EXPECT_GT(last, 0u);
  std::printf("%llu rounds\n", static_cast<unsigned long long>(last));
}

// What retention keeps is there, whole; what it dropped does not come back. Returns the last round.
uint64_t verify_upkeep(const std::string& path, uint64_t last) {
  test::ManualClock clock(from_millis(int64_t(last) * kUpkeepStep));
  auto options = options_for(path, clock);
  options.retention.time = kUpkeepKept;
  auto store = RocksStore::open(options);
  EXPECT_THAT(store, test::IsOk()) << path;
  if (!store) return last;
  const Contents found = read_store(**store);
  EXPECT_EQ(found.size(), size_t{kSeries}) << path;
  uint64_t newest = 0;
  for (const auto& [labels, points] : found)
    newest = std::max(newest, uint64_t(points.back().t / kUpkeepStep));
  const auto kept = uint64_t(std::chrono::milliseconds(kUpkeepKept).count() / kUpkeepStep);
  for (int i = 0; i < kSeries && !found.empty(); ++i) {
    const Points& points = found.at(label(i));
    Points expected;
    for (auto n = uint64_t(points.front().t / kUpkeepStep); n <= newest; ++n)
      expected.push_back({int64_t(n) * kUpkeepStep, value(i, n)});
    EXPECT_EQ(points, expected) << path;
    const uint64_t first = std::min(newest, last) > kept ? std::min(newest, last) - kept : 1;
    EXPECT_LE(uint64_t(points.front().t / kUpkeepStep), first) << path;
    if (::testing::Test::HasFailure()) break;
  }
  return newest;
}

// A kill in the middle of sealing a day, dropping one, or copying it all; a snapshot that exists is
// whole.
void upkeep_cycles(int count, unsigned seed) {
  const TempDir dir;
  const std::string path = dir / "data";
  std::mt19937 random(seed);
  uint64_t last = 0;
  int snapshots = 0;
  for (int cycle = 0; cycle < count && !::testing::Test::HasFailure(); ++cycle) {
    const uint64_t acknowledged = run_and_kill("upkeep", path, last + 1, any_life(random, 20));
    last = verify_upkeep(path, acknowledged);
    EXPECT_GE(last, acknowledged);
    EXPECT_LE(last, acknowledged + 1);
    std::error_code error;
    if (std::filesystem::exists(path + ".snapshot", error)) {
      EXPECT_LE(verify_upkeep(path + ".snapshot", last), last);
      ++snapshots;
    }
    std::filesystem::remove_all(path + ".snapshot", error);
    std::filesystem::remove_all(path + ".snapshot.tmp", error);
  }
  EXPECT_GT(last, 0u);
  EXPECT_GE(snapshots, count / 10);
  std::printf("%llu rounds, %d snapshots\n", static_cast<unsigned long long>(last), snapshots);
}

TEST(Crash, AFewCycles) { cycles(5, 11); }
TEST(Crash, AFewCyclesOfUpkeep) { upkeep_cycles(5, 13); }

TEST(CrashSlow, DISABLED_TwoHundredCycles) { cycles(200, 12); }
TEST(CrashSlow, DISABLED_TwoHundredCyclesOfUpkeep) { upkeep_cycles(200, 14); }

}  // namespace
}  // namespace vagt::tsdb

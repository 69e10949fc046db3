#include "node-agent/mount_prober.h"

#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <thread>

#include "base/mutex.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kKeep = seconds(30);  // how long an earlier answer may stand in
// Threads that dead mounts may hold. With more dead mounts than this the rest wait their turn.
constexpr size_t kMaxThreads = 16;
// A call this old no longer counts as working: another thread takes over the queue.
constexpr auto kSlow = milliseconds(20);

}  // namespace

struct MountProber::State {
  struct Mount {
    bool pending = false, running = false;
    Clock::time_point asked{};  // valid while pending
    Clock::time_point began{};  // valid while running
    std::optional<MountStats> answer;
    Clock::time_point answered{};
  };
  explicit State(StatMount call) : stat(call) {}

  const StatMount stat;
  base::Mutex mutex;
  base::CondVar changed;
  std::map<std::string, Mount> mounts VAGT_GUARDED_BY(mutex);
  std::deque<std::string> queue VAGT_GUARDED_BY(mutex);
  size_t threads VAGT_GUARDED_BY(mutex) = 0;
  size_t idle VAGT_GUARDED_BY(mutex) = 0;
  bool stopping VAGT_GUARDED_BY(mutex) = false;
};

MountStats stat_mount(const std::string& path) {
  MountStats stats;
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0) {
    stats.error = errno;
    return stats;
  }
  stats.block_size = static_cast<uint64_t>(info.f_bsize);
  stats.blocks = info.f_blocks;
  stats.blocks_free = info.f_bfree;
  stats.blocks_available = info.f_bavail;
  stats.files = info.f_files;
  stats.files_free = info.f_ffree;
  return stats;
}

MountProber::MountProber(StatMount stat, milliseconds deadline)
    : deadline_(deadline), state_(std::make_shared<State>(stat)) {}

MountProber::~MountProber() {
  {
    base::MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->queue.clear();
  }
  state_->changed.notify_all();
}

void MountProber::work(const std::shared_ptr<State>& state) VAGT_NO_THREAD_ANALYSIS {
  std::unique_lock<base::Mutex> lock(state->mutex);
  while (true) {
    ++state->idle;
    state->changed.wait(
        lock, [&]() VAGT_NO_THREAD_ANALYSIS { return state->stopping || !state->queue.empty(); });
    --state->idle;
    if (state->stopping) return;
    const std::string path = std::move(state->queue.front());
    state->queue.pop_front();
    state->mounts[path].running = true;
    state->mounts[path].began = Clock::now();
    lock.unlock();
    const MountStats answer = state->stat(path);
    lock.lock();
    State::Mount& mount = state->mounts[path];
    mount.pending = mount.running = false;
    mount.answer = answer;
    mount.answered = Clock::now();
    if (state->queue.empty()) state->changed.notify_all();
  }
}

std::vector<std::optional<MountStats>> MountProber::probe(
    const std::vector<std::string>& paths, milliseconds patience) VAGT_NO_THREAD_ANALYSIS {
  std::unique_lock<base::Mutex> lock(state_->mutex);
  const auto now = Clock::now();
  for (const std::string& path : paths) {
    State::Mount& mount = state_->mounts[path];
    if (mount.pending) continue;  // still hangs
    mount.pending = true;
    mount.asked = now;
    state_->queue.push_back(path);
  }
  // The deadline is a call's own: time in the queue does not count.
  const auto is_late = [&](const State::Mount& mount) {
    return mount.running && Clock::now() - mount.began >= deadline_;
  };
  // A mount that hung before this round keeps nobody waiting.
  const auto is_done = [&]() VAGT_NO_THREAD_ANALYSIS {
    for (const std::string& path : paths)
      if (const State::Mount& mount = state_->mounts[path];
          mount.pending && mount.asked == now && !is_late(mount))
        return false;
    return true;
  };
  const auto give_up = now + patience;
  while (!is_done() && Clock::now() < give_up) {
    if (!state_->queue.empty() && state_->idle == 0 && state_->threads < kMaxThreads) {
      ++state_->threads;
      // Detached, since a call into a dead server never returns; it shares the state.
      std::thread([state = state_] { work(state); }).detach();
    }
    state_->changed.notify_one();
    state_->changed.wait_until(lock, std::min(give_up, Clock::now() + kSlow));
  }
  std::vector<std::optional<MountStats>> out;
  for (const std::string& path : paths) {
    const State::Mount& mount = state_->mounts[path];
    if (is_late(mount)) {
      MountStats late;
      late.timed_out = true;
      out.push_back(late);
    } else if (mount.answer && (!mount.pending || now - mount.answered < kKeep)) {
      out.push_back(mount.answer);
    } else {
      out.push_back(std::nullopt);
    }
  }
  // Mounts that are gone are forgotten, unless a call still refers to them.
  std::erase_if(state_->mounts, [&](const auto& entry) {
    return !entry.second.pending &&
           std::find(paths.begin(), paths.end(), entry.first) == paths.end();
  });
  return out;
}

Result<std::map<std::string, MountStats>> read_mount_fixture(const std::string& path) {
  std::string text;
  VAGT_CHECK_OK(read_file(path, text));
  std::map<std::string, MountStats> out;
  std::string_view rest = text, line;
  next_line(rest, line);  // the header
  while (next_line(rest, line)) {
    std::vector<std::string_view> columns;
    for (size_t from = 0; from <= line.size();) {
      const size_t tab = std::min(line.find('\t', from), line.size());
      columns.push_back(line.substr(from, tab - from));
      from = tab + 1;
    }
    if (columns.size() < 8) return Status::invalid(path + ": fewer than 8 columns");
    MountStats stats;
    uint64_t* const numbers[] = {&stats.block_size,       &stats.blocks, &stats.blocks_free,
                                 &stats.blocks_available, &stats.files,  &stats.files_free};
    for (size_t i = 0; i < 6; ++i) *numbers[i] = to_uint(columns[i + 1]).value_or(0);
    stats.timed_out = trim(columns[7]) == "TIMEOUT";
    stats.error = static_cast<int>(to_uint(trim(columns[7])).value_or(0));
    out.emplace(columns[0], stats);
  }
  return out;
}

}  // namespace vagt::agent

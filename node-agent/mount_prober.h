// statfs(2) that cannot hang its caller: a dead NFS server blocks the call for ever.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace vagt::agent {

struct MountStats {
  uint64_t block_size = 0, blocks = 0, blocks_free = 0, blocks_available = 0, files = 0,
           files_free = 0;
  int error = 0;           // errno; 0: the numbers are good
  bool timed_out = false;  // no answer within the deadline
};

// The blocking call; tests hand in their own.
using StatMount = MountStats (*)(const std::string& path);
MountStats stat_mount(const std::string& path);

class MountProber {
 public:
  using Clock = std::chrono::steady_clock;
  MountProber(StatMount stat, std::chrono::milliseconds deadline);
  ~MountProber();  // leaves threads behind that a dead server holds; they own what they touch

  // Asks all `paths` at once and waits at most `patience`. An answer that is not in by then comes
  // from the last round (at most 30 s old), is `timed_out` once its call is older than the
  // deadline, and is nullopt in between. Same order as `paths`.
  std::vector<std::optional<MountStats>> probe(const std::vector<std::string>& paths,
                                               std::chrono::milliseconds patience);

 private:
  struct State;
  static void work(const std::shared_ptr<State>& state);
  const std::chrono::milliseconds deadline_;
  std::shared_ptr<State> state_;
};

// Recorded answers: columns mountpoint, f_bsize, f_blocks, f_bfree, f_bavail, f_files, f_ffree,
// errno (a number or TIMEOUT), tab-separated, with a header line.
Result<std::map<std::string, MountStats>> read_mount_fixture(const std::string& path);

}  // namespace vagt::agent

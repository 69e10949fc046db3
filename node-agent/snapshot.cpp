#include "node-agent/snapshot.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace vagt::agent {
namespace {

Status print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return {};
  return Status::io(std::string("standard output: ") + std::strerror(errno));
}

// False: a signal came.
bool wait(Duration left, const sigset_t& stop_signals) {
  const auto millis = std::max<int64_t>(0, left.count());
  const timespec patience{static_cast<time_t>(millis / 1000),
                          static_cast<long>(millis % 1000 * 1000000)};
  return sigtimedwait(&stop_signals, nullptr, &patience) < 0;
}

}  // namespace

std::string with_times(std::string_view page, Timestamp at, bool heads) {
  const std::string time = ' ' + std::to_string(to_millis(at)) + '\n';
  std::string out;
  out.reserve(page.size() * 5 / 4);
  std::string_view line;
  while (next_line(page, line)) {
    if (line.empty() || (line[0] == '#' && !heads)) continue;
    out += line;
    out += line[0] == '#' ? "\n" : time;
  }
  return out;
}

Status write_snapshots(Agent& agent, const Options& options, const sigset_t& stop_signals) {
  const Clock& clock = *options.sources.clock;
  if (options.snapshot_for <= Duration(0)) {
    const std::string page = agent.collect_once();
    VAGT_CHECK_OK(print(with_times(page, clock.now(), true)));
    return print("# kernel-log " + options.sources.kernel_lines->json_after(0) + '\n');
  }
  agent.start();
  const Timestamp end = clock.now() + options.snapshot_for;
  uint64_t after = 0;
  bool first = true;
  // Background collectors have something to show by the first one.
  for (Timestamp due = clock.now() + options.snapshot_every; due <= end;
       due += options.snapshot_every) {
    if (!wait(due - clock.now(), stop_signals)) return {};
    VAGT_TRY(const std::string page, agent.page({}, PageFormat::Text));
    VAGT_CHECK_OK(print(with_times(page, clock.now(), first)));
    first = false;
    const uint64_t next = options.sources.kernel_lines->last_sequence();
    if (next != after)
      VAGT_CHECK_OK(
          print("# kernel-log " + options.sources.kernel_lines->json_after(after) + '\n'));
    after = next;
  }
  return {};
}

}  // namespace vagt::agent

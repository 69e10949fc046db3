// vagtd: parses flags, starts the daemon, waits for signals.
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>

#include "engine/daemon.h"

namespace vagt::engine {
namespace {

// Every scrape target and client is a descriptor; the soft limit of 1024 that shells give is too
// low for a thousand hosts.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// glibc gives every thread a heap of its own by default: what one has freed the others cannot use,
// and a process of many threads that each had one large moment keeps them all. Two are enough for
// two cores. Setting the thresholds also stops glibc from raising them to 32 MiB by itself.
void keep_heap_small() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

// Code that only the start needed is resident until someone says otherwise. The pages stay in the
// system's cache; what is called again comes back with the call.
void let_go_of_startup_code() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access) != 3) continue;
    if (std::string_view(access) != "r-xp" || line.find('/') == std::string::npos) continue;
    // Never written to, as r-xp says: nothing is lost.
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // NOLINT
  }
}

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// Until SIGTERM, SIGINT or /-/quit; SIGHUP reloads.
void wait_for_the_end(Daemon& daemon, const sigset_t& signals, const base::Logger& log) {
  while (!daemon.quit_requested()) {
    const timespec tick{0, 200'000'000};
    const int signal = ::sigtimedwait(&signals, nullptr, &tick);
    if (signal == SIGHUP) {
      daemon.reload().ignore("logged by reload()");
    } else if (signal == SIGTERM || signal == SIGINT) {
      log.info("stopping", {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
      return;
    }
  }
  log.info("stopping", {{"reason", "/-/quit"}});
}

int run(int argc, const char* const* argv) {
  // Blocked before any thread starts, so that only the wait below receives them.
  const sigset_t signals = handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  auto parsed = parse_flags(argc, argv);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    std::fputs(early->text.c_str(), early->status == 0 ? stdout : stderr);
    return early->status;
  }
  raise_descriptor_limit();
  keep_heap_small();
  Flags flags = std::get<Flags>(std::move(parsed));
  const base::Logger log =
      base::make_stderr_logger(flags.log_level, flags.log_format).with_component("vagtd");
  SystemClock clock;
  auto daemon = Daemon::start(std::move(flags), clock, log);
  if (!daemon.ok()) {
    log.error("vagtd cannot start", {{"err", daemon.error().message()}});
    return 1;
  }
  let_go_of_startup_code();
  wait_for_the_end(**daemon, signals, log);
  return 0;
}

}  // namespace
}  // namespace vagt::engine

int main(int argc, char** argv) {
  try {
    return vagt::engine::run(argc, argv);
  } catch (const std::exception& failure) {
    // No thread or no memory to be had, most likely: a limit of the shell or of the cgroup.
    std::fprintf(stderr, "vagtd cannot go on: %s\n", failure.what());
    return 1;
  }
}

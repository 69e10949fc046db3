#include "node-agent/command.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace vagt::agent {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMaxOutput = 16u << 20;
constexpr std::chrono::milliseconds kKillPatience{1000};

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

// Its own process group, so that a kill reaches what it started; signals back to their defaults,
// since ours are blocked.
int spawn(const std::vector<std::string>& argv, int output, pid_t& pid) {
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const char* path = std::getenv("PATH");
  std::string path_variable = std::string("PATH=") + (path != nullptr ? path : "/usr/bin:/bin");
  std::string locale = "LC_ALL=C", zone = "TZ=UTC";
  char* environment[] = {path_variable.data(), locale.data(), zone.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  const int error =
      posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes, arguments.data(), environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads until the end, the deadline, a stop or too much.
Status read_all(int fd, Clock::time_point deadline, const std::stop_token& stop, std::string& out) {
  char buffer[65536];
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Status(Code::Timeout, "no end within its deadline");
    if (stop.stop_requested()) return Status(Code::Cancelled, "stopped");
    pollfd waiting{fd, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<long>(left, 200))) == 0) continue;
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    out.append(buffer, static_cast<size_t>(n));
    if (out.size() > kMaxOutput) return Status(Code::LimitExceeded, "more than 16 MiB of output");
  }
}

// A program that closed its output but runs on is not waited for beyond the deadline. False: it
// does not even end when it is killed.
bool wait_for_end(pid_t pid, Clock::time_point deadline, int& wait_status, rusage& usage) {
  bool killed = false;
  while (wait4(pid, &wait_status, WNOHANG, &usage) == 0) {
    const auto now = Clock::now();
    if (now >= deadline) return false;
    if (!killed && now >= deadline - kKillPatience) {
      kill(-pid, SIGKILL);
      killed = true;
    }
    usleep(1000);
  }
  return true;
}

}  // namespace

Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                  std::chrono::milliseconds deadline, std::stop_token stop,
                                  std::shared_ptr<CommandSlot> slot) {
  if (slot != nullptr && slot->busy.exchange(true))
    return Status(Code::Unavailable, argv[0] + ": the last one still hangs");
  const auto end = Clock::now() + deadline;
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
    if (slot != nullptr) slot->busy = false;
    return Status::io(fmt::format("pipe: {}", std::strerror(errno)));
  }
  pid_t pid = -1;
  const int error = spawn(argv, pipe_fds[1], pid);
  close(pipe_fds[1]);
  if (error != 0) {
    close(pipe_fds[0]);
    if (slot != nullptr) slot->busy = false;
    return Status(error == ENOENT ? Code::NotFound : Code::Io,
                  fmt::format("{}: {}", argv[0], std::strerror(error)));
  }
  CommandOutput output;
  const Status status = read_all(pipe_fds[0], end, stop, output.out);
  close(pipe_fds[0]);
  if (!status.ok()) kill(-pid, SIGKILL);
  int wait_status = 0;
  rusage usage{};
  if (!wait_for_end(pid, end + kKillPatience, wait_status, usage)) {
    // It is in a system call that does not return. Someone must take its end when that comes.
    std::thread([pid, slot] {
      int ignored = 0;
      while (waitpid(pid, &ignored, 0) < 0 && errno == EINTR) continue;
      if (slot != nullptr) slot->busy = false;
    }).detach();
    return Status(Code::Timeout, fmt::format("{}: cannot be killed", argv[0]));
  }
  if (slot != nullptr) slot->busy = false;
  if (!status.ok()) return Status(status).at(argv[0]);
  output.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  output.exit_code =
      WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  return output;
}

}  // namespace vagt::agent

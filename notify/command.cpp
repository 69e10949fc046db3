#include "notify/command.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

extern char** environ;

namespace vagt::notify {
namespace {

constexpr size_t kMaxOutput = 64u << 10;
constexpr auto kPoll = std::chrono::milliseconds(5);

// A file without a name: no pipe that could fill up and block both sides.
class ScratchFile {
 public:
  ScratchFile() : fd_(::memfd_create("vagt-exec", MFD_CLOEXEC)) {}
  ~ScratchFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  int fd() const { return fd_; }
  bool fill(const std::string& text) const {
    return fd_ >= 0 &&
           ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
           ::lseek(fd_, 0, SEEK_SET) == 0;
  }
  std::string content() const {
    std::string out(kMaxOutput, '\0');
    const ssize_t n = ::pread(fd_, out.data(), out.size(), 0);
    out.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return out;
  }

 private:
  const int fd_;
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// Waits for the child; false: killed at the deadline.
bool wait_for(pid_t pid, Duration timeout, int& status) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      ::kill(-pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

}  // namespace

TransferReply run_command(const ExecTransfer& command) {
  TransferReply reply;
  const ScratchFile input, output;
  if (command.command.empty() || !input.fill(command.input) || output.fd() < 0) {
    reply.failure = Status::invalid("cannot prepare the command");
    return reply;
  }
  std::vector<std::string> words = command.command, environment;
  for (char** e = environ; *e != nullptr; ++e) environment.emplace_back(*e);
  for (const auto& [name, value] : command.environment) environment.push_back(name + "=" + value);
  auto argv = pointers(words), envp = pointers(environment);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.fd(), 0);
  posix_spawn_file_actions_adddup2(&files, output.fd(), 1);
  posix_spawn_file_actions_adddup2(&files, output.fd(), 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that its children end with it
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    reply.failure =
        Status::invalid(std::string("cannot start the command: ") + std::strerror(error));
    return reply;
  }
  int status = 0;
  if (!wait_for(pid, command.timeout, status)) {
    reply.failure = Status(Code::Timeout, "the command did not end in time");
    return reply;
  }
  reply.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  reply.body = output.content();
  return reply;
}

}  // namespace vagt::notify

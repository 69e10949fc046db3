#include "node-agent/state_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "node-agent/sources.h"

namespace vagt::agent {

std::string load_boot_state(const std::string& path, const std::string& boot_id) {
  std::string text;
  if (!read_file(path, text).ok()) return {};
  std::string_view rest = text, line;
  if (!next_line(rest, line) || line != boot_id) return {};
  return std::string(rest);
}

Status save_state(const std::string& path, const std::string& text) {
  const std::string beside = path + ".new";
  const auto failure = [&path] {
    return Status::io(fmt::format("{}: {}", path, std::strerror(errno)));
  };
  const int fd = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return failure();
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  const bool good = written == text.size() && fsync(fd) == 0;
  if (close(fd) != 0 || !good || std::rename(beside.c_str(), path.c_str()) != 0) {
    const Status status = failure();
    unlink(beside.c_str());
    return status;
  }
  return {};
}

void StateHealth::check(const std::string& directory, const base::Logger& log) {
  const std::string probe = Sources::join(directory, "writable");
  const Status status = save_state(probe, {});
  if (status.ok()) unlink(probe.c_str());
  note(status, log);
}

void StateHealth::note(const Status& written, const base::Logger& log) {
  const bool was_good = good_.exchange(written.ok());
  if (!written.ok()) ++failures_;
  if (!written.ok() && was_good)
    log.warn("state cannot be kept: counters and what was seen begin anew at the next start",
             {{"reason", written.message()}});
  if (written.ok() && !was_good) log.info("state is kept again");
}

Status save_boot_state(const std::string& path, const std::string& boot_id,
                       const std::string& text) {
  return save_state(path, boot_id + '\n' + text);
}

}  // namespace vagt::agent

#include "node-agent/kept_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

// What a file says once the device or sysctl behind it is gone; another may have its name by now.
bool is_stale(int error) {
  return error == ENODEV || error == ENOENT || error == ENXIO || error == ESTALE || error == ESRCH;
}

}  // namespace

KeptFile::~KeptFile() { close_now(); }

KeptFile::KeptFile(KeptFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), keeps_(other.keeps_) {}

void KeptFile::close_now() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool KeptFile::open_now() {
  fd_ = open_regular(path_);
  if (fd_ < 0) return false;
  struct statfs info {};
  keeps_ =
      fstatfs(fd_, &info) == 0 && (info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC);
  return true;
}

Status KeptFile::failure(int error) const {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::NotFound : Code::Io;
  const char* reason = error == EINVAL ? "not a regular file" : std::strerror(error);
  return Status(code, fmt::format("{}: {}", path_, reason));
}

long KeptFile::read_at(char* buffer, size_t size, size_t offset) {
  bool fresh = false;
  if (fd_ < 0) {
    if (!open_now()) return -1;
    fresh = true;
  }
  while (true) {
    const ssize_t n = pread(fd_, buffer, size, static_cast<off_t>(offset));
    if (n >= 0) return n;
    if (errno == EINTR) continue;
    if (fresh || offset > 0 || !is_stale(errno)) return -1;
    close_now();
    if (!open_now()) return -1;
    fresh = true;
  }
}

Status KeptFile::read(std::string& out) {
  out.clear();
  char buffer[32768];
  while (true) {
    const long n = read_at(buffer, sizeof buffer, out.size());
    if (n < 0) {
      const int error = errno;
      out.clear();
      if (!keeps_ || is_stale(error)) close_now();
      return failure(error);
    }
    if (n == 0) break;
    out.append(buffer, static_cast<size_t>(n));
    if (out.size() > kMaxFile) {
      std::string().swap(out);  // gives the memory back, too
      close_now();
      return failure(EFBIG);
    }
  }
  if (!keeps_) close_now();
  return {};
}

std::optional<std::string_view> KeptFile::line(std::string& out) {
  if (!read(out).ok()) return std::nullopt;
  const std::string_view all = out;
  return trim(all.substr(0, all.find('\n')));
}

std::optional<double> KeptFile::number() {
  char buffer[64];
  const long n = read_at(buffer, sizeof buffer, 0);
  if (!keeps_ || (n < 0 && is_stale(errno))) close_now();
  if (n <= 0) return std::nullopt;
  return to_number(trim({buffer, static_cast<size_t>(n)}));
}

}  // namespace vagt::agent

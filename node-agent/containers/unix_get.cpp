#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "node-agent/containers/docker.h"
#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMaxBody = 16u << 20;

class Connection {
 public:
  Connection() : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

bool wait_for(int fd, short events, Clock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  pollfd waiting{fd, events, 0};
  return left > 0 && poll(&waiting, 1, static_cast<int>(left)) > 0;
}

Status exchange(int fd, const std::string& request, Clock::time_point deadline, std::string& out) {
  size_t sent = 0;
  while (sent < request.size()) {
    if (!wait_for(fd, POLLOUT, deadline)) return Status(Code::Timeout, "does not take a question");
    const ssize_t n = send(fd, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return Status::io(std::strerror(errno));
    sent += static_cast<size_t>(n);
  }
  char buffer[16384];
  while (out.size() <= kMaxBody) {
    if (!wait_for(fd, POLLIN, deadline)) return Status(Code::Timeout, "no answer in time");
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n < 0) return Status::io(std::strerror(errno));
    if (n == 0) return {};
    out.append(buffer, static_cast<size_t>(n));
  }
  return Status(Code::LimitExceeded, "more than 16 MiB of answer");
}

}  // namespace

Result<std::string> get_over_unix_socket(const std::string& socket_path, const std::string& path,
                                         std::chrono::milliseconds deadline) {
  const auto end = Clock::now() + deadline;
  const Connection connection;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (connection.fd() < 0 || socket_path.size() >= sizeof address.sun_path)
    return Status::invalid(socket_path + ": no socket of that name can be opened");
  std::memcpy(address.sun_path, socket_path.c_str(), socket_path.size() + 1);
  if (connect(connection.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Status(errno == ENOENT ? Code::NotFound : Code::Io,
                  fmt::format("{}: {}", socket_path, std::strerror(errno)));
  // HTTP/1.0: the answer ends with the connection, and comes in one piece.
  std::string answer;
  const std::string request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
  if (Status status = exchange(connection.fd(), request, end, answer); !status.ok())
    return std::move(status).at(socket_path);
  const size_t body = answer.find("\r\n\r\n");
  std::string_view head = answer;
  next_word(head);  // HTTP/1.0
  const std::string_view code = next_word(head);
  if (body == std::string::npos || code != "200")
    return Status(Code::Unavailable, fmt::format("{}{} answered {}", socket_path, path, code));
  return answer.substr(body + 4);
}

}  // namespace vagt::agent

// A TCP server on loopback that does exactly what a test scripts, lies and silence included; and a
// bare client.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>

namespace vagt::test {

// A connected socket; closes it. Reads give up after ten seconds, so that a broken test ends.
class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}
  Wire(Wire&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Wire() {
    if (fd_ >= 0) ::close(fd_);
  }
  static Wire connect(uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ::close(fd);
      return Wire(-1);
    }
    return Wire(fd);
  }

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // One piece; "" at the end of the stream.
  std::string read_some(int timeout_ms = 10'000) const {
    pollfd ready{fd_, POLLIN, 0};
    if (::poll(&ready, 1, timeout_ms) <= 0) return "";
    char buffer[65536];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  }
  // Up to and with `end`, or what there was when the stream ended. Keeps what follows.
  std::string read_until(std::string_view end) {
    size_t at;
    while ((at = pending_.find(end)) == std::string::npos) {
      const std::string piece = read_some();
      if (piece.empty()) return std::exchange(pending_, "");
      pending_ += piece;
    }
    std::string out = pending_.substr(0, at + end.size());
    pending_.erase(0, at + end.size());
    return out;
  }
  std::string read_bytes(size_t count) {
    while (pending_.size() < count) {
      const std::string piece = read_some();
      if (piece.empty()) break;
      pending_ += piece;
    }
    std::string out = pending_.substr(0, count);
    pending_.erase(0, out.size());
    return out;
  }
  std::string read_all() {
    std::string out = std::exchange(pending_, "");
    while (true) {
      const std::string piece = read_some();
      if (piece.empty()) return out;
      out += piece;
    }
  }
  void finish_sending() const { ::shutdown(fd_, SHUT_WR); }

 private:
  int fd_;
  std::string pending_;
};

class ScriptServer {
 public:
  // Runs once per connection, on a thread of its own; the connection closes when it returns.
  using Script = std::function<void(Wire&)>;

  explicit ScriptServer(Script script) : script_(std::move(script)) {
    listen_fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listen_fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listen_fd_, 64);
    socklen_t size = sizeof address;
    ::getsockname(listen_fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~ScriptServer() {
    ::shutdown(listen_fd_, SHUT_RDWR);
    acceptor_.join();
    ::close(listen_fd_);
    for (auto& thread : threads_) thread.join();
  }
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  uint16_t port() const { return port_; }
  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  int connections() const { return connections_; }

 private:
  void accept_all() {
    while (true) {
      const int fd = ::accept(listen_fd_, nullptr, nullptr);
      if (fd < 0) return;
      ++connections_;
      threads_.emplace_back([this, fd] {
        Wire wire(fd);
        script_(wire);
      });
    }
  }

  const Script script_;
  int listen_fd_ = -1;
  uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

// "HTTP/1.1 200 OK" with a right Content-Length.
inline std::string http_answer(int status, std::string_view body, std::string_view headers = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

// Reads requests without bodies off a connection and answers each by `answer(head)` until the
// client goes.
inline ScriptServer::Script answer_each(std::function<std::string(const std::string&)> answer) {
  return [answer = std::move(answer)](Wire& wire) {
    while (true) {
      const std::string head = wire.read_until("\r\n\r\n");
      if (!head.ends_with("\r\n\r\n") || !wire.send(answer(head))) return;
    }
  };
}

}  // namespace vagt::test

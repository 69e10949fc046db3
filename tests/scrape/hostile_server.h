// An HTTP server on 127.0.0.1 whose answers are bytes, or a function that writes them as nastily as
// it likes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace vagt::test {

class HostileServer {
 public:
  // Writes to the client; false: the client hung up or the test is over.
  using Send = std::function<bool(std::string_view)>;
  using Behaviour = std::function<void(const Send& send, std::stop_token stop)>;

  explicit HostileServer(std::map<std::string, Behaviour> behaviours)
      : behaviours_(std::move(behaviours)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 64);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::jthread([this](std::stop_token stop) { accept_all(stop); });
  }
  ~HostileServer() {
    acceptor_.request_stop();
    acceptor_.join();
    clients_.clear();  // asks each to stop and joins
    ::close(listener_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void accept_all(std::stop_token stop) {
    while (!stop.stop_requested()) {
      pollfd waiting{listener_, POLLIN, 0};
      if (::poll(&waiting, 1, 20) != 1) continue;
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) continue;
      clients_.emplace_back(
          [this, client](std::stop_token client_stop) { serve(client, client_stop); });
    }
  }
  void serve(int client, std::stop_token stop) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos && !stop.stop_requested()) {
      pollfd waiting{client, POLLIN, 0};
      if (::poll(&waiting, 1, 20) != 1) continue;
      const ssize_t n = ::recv(client, buffer, sizeof(buffer), 0);
      if (n <= 0) break;
      request.append(buffer, static_cast<size_t>(n));
    }
    const size_t from = request.find(' ') + 1;
    const auto found =
        behaviours_.find(request.substr(from, request.find_first_of(" ?", from) - from));
    if (found != behaviours_.end()) {
      found->second(
          [client, stop](std::string_view bytes) { return send_all(client, bytes, stop); }, stop);
    }
    ::shutdown(client, SHUT_RDWR);
    ::close(client);
  }
  static bool send_all(int client, std::string_view bytes, const std::stop_token& stop) {
    while (!bytes.empty()) {
      if (stop.stop_requested()) return false;
      pollfd waiting{client, POLLOUT, 0};
      if (::poll(&waiting, 1, 20) != 1) continue;
      const ssize_t n = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  const std::map<std::string, Behaviour> behaviours_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::vector<std::jthread> clients_;  // owned by the acceptor until it is joined
  std::jthread acceptor_;
};

}  // namespace vagt::test

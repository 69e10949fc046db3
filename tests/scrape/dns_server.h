// A name server on loopback, UDP and TCP, that answers as a test scripts it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace vagt::test {

inline void put16(std::string& out, unsigned value) {
  out += static_cast<char>(value >> 8 & 0xFF);
  out += static_cast<char>(value & 0xFF);
}
inline std::string dns_name(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t dot = std::min(text.find('.'), text.size());
    if (dot > 0) out += static_cast<char>(dot), out += text.substr(0, dot);
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return out + '\0';
}
// One record for the name asked for (a pointer to the question).
inline std::string dns_record(unsigned type, std::string_view data) {
  std::string out = "\xC0\x0C";
  put16(out, type), put16(out, 1), put16(out, 0), put16(out, 60);
  put16(out, static_cast<unsigned>(data.size()));
  return out.append(data);
}
inline std::string srv_data(unsigned port, std::string_view target) {
  std::string out;
  put16(out, 10), put16(out, 5), put16(out, port);
  return out + dns_name(target);
}

class DnsServer {
 public:
  struct Question {
    std::string name;  // with its final dot
    unsigned type = 0;
    bool is_tcp = false;
  };
  struct Answer {
    unsigned code = 0;
    std::vector<std::string> records{};
    bool is_truncated = false, is_silent = false;
    bool has_other_id = false;  // preceded by an answer with a wrong id, and by a short one
  };
  using Script = std::function<Answer(const Question&)>;

  explicit DnsServer(Script script) : script_(std::move(script)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // Both protocols on one port: TCP takes any free one, UDP follows.
    for (int tries = 0; tries < 20; ++tries) {
      tcp_ = ::socket(AF_INET, SOCK_STREAM, 0);
      address.sin_port = 0;
      ::bind(tcp_, reinterpret_cast<sockaddr*>(&address), sizeof address);
      ::listen(tcp_, 16);
      socklen_t size = sizeof address;
      ::getsockname(tcp_, reinterpret_cast<sockaddr*>(&address), &size);
      udp_ = ::socket(AF_INET, SOCK_DGRAM, 0);
      if (::bind(udp_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) break;
      ::close(udp_), ::close(tcp_);
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~DnsServer() {
    is_stopping_ = true;
    thread_.join();
    ::close(udp_), ::close(tcp_);
  }
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;
  uint16_t port() const { return port_; }

 private:
  static Question question_of(std::string_view message, bool is_tcp) {
    Question question;
    size_t at = 12;
    while (at < message.size() && message[at] != 0) {
      const auto length = static_cast<size_t>(message[at]);
      question.name += std::string(message.substr(at + 1, length)) + ".";
      at += length + 1;
    }
    question.type = static_cast<unsigned char>(message[at + 2]);
    question.is_tcp = is_tcp;
    return question;
  }
  static std::string encode(std::string_view query, const Answer& answer) {
    std::string out(query.substr(0, 2));
    put16(out, 0x8180 | answer.code | (answer.is_truncated ? 0x0200 : 0));
    put16(out, 1), put16(out, static_cast<unsigned>(answer.records.size()));
    put16(out, 0), put16(out, 0);
    const size_t end = query.find('\0', 12) + 5;
    out += query.substr(12, end - 12);
    for (const auto& record : answer.records) out += record;
    return out;
  }
  void run() {
    while (!is_stopping_) {
      pollfd ready[] = {{udp_, POLLIN, 0}, {tcp_, POLLIN, 0}};
      if (::poll(ready, 2, 20) <= 0) continue;
      if ((ready[0].revents & POLLIN) != 0) serve_udp();
      if ((ready[1].revents & POLLIN) != 0) serve_tcp();
    }
  }
  void serve_udp() {
    char buffer[4096];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got =
        ::recvfrom(udp_, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 17) return;
    const std::string_view query(buffer, static_cast<size_t>(got));
    const Answer answer = script_(question_of(query, false));
    if (answer.is_silent) return;
    const std::string out = encode(query, answer);
    if (answer.has_other_id) {
      std::string lie = out;
      lie[0] = static_cast<char>(lie[0] ^ 0x55);
      ::sendto(udp_, lie.data(), lie.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
      ::sendto(udp_, out.data(), 4, 0, reinterpret_cast<sockaddr*>(&from), size);
    }
    ::sendto(udp_, out.data(), out.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
  }
  void serve_tcp() {
    const int fd = ::accept(tcp_, nullptr, nullptr);
    char buffer[4096];
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got > 19) {
      const std::string_view query(buffer + 2, static_cast<size_t>(got) - 2);
      const std::string message = encode(query, script_(question_of(query, true)));
      std::string out;
      put16(out, static_cast<unsigned>(message.size()));
      out += message;
      ::send(fd, out.data(), out.size(), MSG_NOSIGNAL);
    }
    ::close(fd);
  }

  const Script script_;
  int udp_ = -1, tcp_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace vagt::test

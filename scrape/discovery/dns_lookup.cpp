#include "scrape/discovery/dns_lookup.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/labels.h"

namespace vagt::scrape {
namespace {

using std::chrono::steady_clock;

constexpr Duration kStopPoll = std::chrono::milliseconds(50);  // how soon a stop is noticed

class Socket {
 public:
  Socket(int family, int type) : fd_(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

struct Deadline {
  steady_clock::time_point at;
  const std::stop_token& stop;

  // Waits until the socket is ready for `events`.
  Status wait(int fd, short events) const {
    while (true) {
      if (stop.stop_requested()) return {Code::Cancelled, "stopped"};
      const auto left = std::chrono::duration_cast<Duration>(at - steady_clock::now());
      if (left <= Duration(0)) return {Code::Timeout, "i/o timeout"};
      pollfd ready{fd, events, 0};
      const int n = ::poll(&ready, 1, static_cast<int>(std::min(left, kStopPoll).count()) + 1);
      if (n > 0) return {};
      if (n < 0 && errno != EINTR) return Status::io(std::strerror(errno));
    }
  }
};

Status last_error() { return {Code::Unavailable, std::strerror(errno)}; }

// A link-local address says behind which interface it is: "fe80::1%eth0", "fe80::1%2".
Status read_ipv6(const std::string& address, sockaddr_in6& out) {
  const size_t percent = address.find('%');
  const std::string scope = percent == std::string::npos ? "" : address.substr(percent + 1);
  if (::inet_pton(AF_INET6, address.substr(0, percent).c_str(), &out.sin6_addr) != 1 ||
      (percent != std::string::npos && scope.empty()))
    return Status::invalid(fmt::format("{} is no address of a name server", quote(address)));
  out.sin6_family = AF_INET6;
  if (scope.empty()) return {};
  out.sin6_scope_id = ::if_nametoindex(scope.c_str());
  const char* end = scope.data() + scope.size();
  if (out.sin6_scope_id == 0 && std::from_chars(scope.data(), end, out.sin6_scope_id).ptr != end)
    return Status::invalid(
        fmt::format("there is no network interface {} for {}", quote(scope), quote(address)));
  return {};
}

Status connect_to(const Socket& socket, const std::string& address, uint16_t port,
                  const Deadline& deadline) {
  if (socket.fd() < 0) return last_error();
  sockaddr_in6 to6{};
  sockaddr_in to4{};
  const auto* to = reinterpret_cast<const sockaddr*>(&to4);
  socklen_t size = sizeof to4;
  if (::inet_pton(AF_INET, address.c_str(), &to4.sin_addr) == 1) {
    to4.sin_family = AF_INET, to4.sin_port = htons(port);
  } else {
    VAGT_CHECK_OK(read_ipv6(address, to6));
    to6.sin6_port = htons(port);
    to = reinterpret_cast<const sockaddr*>(&to6), size = sizeof to6;
  }
  if (::connect(socket.fd(), to, size) == 0) return {};
  if (errno != EINPROGRESS) return last_error();
  VAGT_CHECK_OK(deadline.wait(socket.fd(), POLLOUT));
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error == 0 ? Status() : Status(Code::Unavailable, std::strerror(error));
}

int family_of(const std::string& address) {
  return address.find(':') == std::string::npos ? AF_INET : AF_INET6;
}

uint16_t random_id() {
  uint16_t id = 0;
  return ::getrandom(&id, sizeof id, 0) == sizeof id ? id : uint16_t{0x5641};
}

struct Query {
  const std::string& name;
  DnsType type;
  const std::string& server;
  uint16_t port;
};

// Answers to other questions, and what is too short to be one, are passed over: anyone may send to
// the port.
Result<DnsAnswer> ask_udp(const Query& query, const Deadline& deadline) {
  const uint16_t id = random_id();
  VAGT_TRY(const std::string message, encode_dns_query(id, query.name, query.type, true));
  const Socket socket(family_of(query.server), SOCK_DGRAM);
  VAGT_CHECK_OK(connect_to(socket, query.server, query.port, deadline));
  if (::send(socket.fd(), message.data(), message.size(), MSG_NOSIGNAL) < 0) return last_error();
  while (true) {
    VAGT_CHECK_OK(deadline.wait(socket.fd(), POLLIN));
    std::string buffer(65536, '\0');
    const ssize_t got = ::recv(socket.fd(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno != EAGAIN && errno != EINTR) return last_error();
    constexpr ssize_t kHeaderBytes = 12;
    if (got < kHeaderBytes) continue;
    auto answer = decode_dns_answer(std::string_view(buffer).substr(0, static_cast<size_t>(got)),
                                    id, query.name, query.type);
    if (answer || answer.error().code() != Code::NotFound) return answer;
  }
}

Status receive(const Socket& socket, const Deadline& deadline, size_t bytes, std::string& out) {
  out.resize(bytes);
  for (size_t have = 0; have < bytes;) {
    VAGT_CHECK_OK(deadline.wait(socket.fd(), POLLIN));
    const ssize_t got = ::recv(socket.fd(), out.data() + have, bytes - have, 0);
    if (got == 0) return {Code::Unavailable, "EOF"};
    if (got < 0 && errno != EAGAIN && errno != EINTR) return last_error();
    if (got > 0) have += static_cast<size_t>(got);
  }
  return {};
}

Result<DnsAnswer> ask_tcp(const Query& query, const Deadline& deadline) {
  const uint16_t id = random_id();
  VAGT_TRY(std::string message, encode_dns_query(id, query.name, query.type, false));
  message.insert(0, 1, static_cast<char>(message.size() & 0xFF));
  message.insert(0, 1, static_cast<char>((message.size() - 1) >> 8));
  const Socket socket(family_of(query.server), SOCK_STREAM);
  VAGT_CHECK_OK(connect_to(socket, query.server, query.port, deadline));
  const ssize_t sent = ::send(socket.fd(), message.data(), message.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(message.size())) return last_error();
  std::string length, body;
  VAGT_CHECK_OK(receive(socket, deadline, 2, length));
  const auto bytes = static_cast<size_t>(static_cast<unsigned char>(length[0]) << 8 |
                                         static_cast<unsigned char>(length[1]));
  VAGT_CHECK_OK(receive(socket, deadline, bytes, body));
  VAGT_TRY(DnsAnswer answer, decode_dns_answer(body, id, query.name, query.type));
  if (answer.is_truncated) return Status(Code::Corruption, "a truncated answer over TCP");
  return answer;
}

// The first server's answer that says "here they are", "there are none" or "no such name".
Result<DnsAnswer> ask_any(const DnsServers& servers, const std::string& name, DnsType type,
                          const std::stop_token& stop) {
  std::string reasons;
  for (const std::string& server : servers.addresses) {
    const Query query{name, type, server, servers.port};
    auto answer = ask_udp(query, {steady_clock::now() + servers.timeout, stop});
    if (answer && answer->is_truncated)
      answer = ask_tcp(query, {steady_clock::now() + servers.timeout, stop});
    if (stop.stop_requested()) return Status(Code::Cancelled, "stopped");
    if (answer && (answer->code == DnsAnswer::kNoError || answer->code == DnsAnswer::kNameError)) {
      return answer;
    }
    reasons += fmt::format(
        "{}{}: {}", reasons.empty() ? "" : "; ", server,
        answer ? fmt::format("answer code {}", answer->code) : answer.error().message());
  }
  return Status(Code::Unavailable, reasons);
}

}  // namespace

Result<DnsServers> read_resolv_conf(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::io(fmt::format("could not load resolv.conf: open {}", path));
  DnsServers servers;
  std::string line, word;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (!(words >> word) || word.front() == '#' || word.front() == ';') continue;
    if (word == "nameserver") {
      if (words >> word) servers.addresses.push_back(word);
    } else if (word == "search" || word == "domain") {
      servers.search.clear();
      while (words >> word) servers.search.push_back(word);
    } else if (word == "options") {
      while (words >> word) {
        if (word.starts_with("ndots:")) servers.dots = std::atoi(word.c_str() + 6);
        if (word.starts_with("timeout:") && std::atoi(word.c_str() + 8) > 0)
          servers.timeout = std::chrono::seconds(std::min(std::atoi(word.c_str() + 8), 30));
      }
    }
  }
  if (servers.addresses.empty()) servers.addresses.push_back("127.0.0.1");
  return servers;
}

std::vector<std::string> dns_name_list(const DnsServers& servers, const std::string& name) {
  if (name.ends_with('.')) return {name};
  const bool is_full = std::count(name.begin(), name.end(), '.') >= servers.dots;
  std::vector<std::string> names;
  if (is_full) names.push_back(name + ".");
  for (const std::string& domain : servers.search)
    names.push_back(name + "." + domain + (domain.ends_with('.') ? "" : "."));
  if (!is_full) names.push_back(name + ".");
  return names;
}

Result<std::vector<DnsRecord>> lookup_dns(const DnsServers& servers, const std::string& name,
                                          DnsType type, const std::stop_token& stop) {
  std::string reasons;
  for (const std::string& spelling : dns_name_list(servers, name)) {
    auto answer = ask_any(servers, spelling, type, stop);
    if (!answer && answer.error().code() == Code::Cancelled) return answer.error();
    if (!answer) {
      reasons +=
          fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", spelling, answer.error().message());
    } else if (answer->code == DnsAnswer::kNoError) {
      return std::move(answer->records);
    }
  }
  // Everybody says that there is no such name.
  if (reasons.empty()) return std::vector<DnsRecord>();
  return Status(Code::Unavailable, fmt::format("could not resolve {}: {}", quote(name), reasons));
}

}  // namespace vagt::scrape

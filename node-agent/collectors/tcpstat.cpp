// TCP connections by state: walks every socket, so it is off by default.
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

// include/net/tcp_states.h, from 1.
constexpr std::array<std::string_view, 13> kStates = {
    "",      "established", "syn_sent", "syn_recv", "fin_wait1", "fin_wait2",   "time_wait",
    "close", "close_wait",  "last_ack", "listen",   "closing",   "new_syn_recv"};

struct Totals {
  std::array<double, kStates.size()> states{};
  double rx_queued = 0, tx_queued = 0;
};

class Socket {
 public:
  Socket() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {
    const timeval timeout{1, 0};
    if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

Status ask_kernel(int family, Totals& totals) {
  const Socket socket;
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = static_cast<uint8_t>(family);
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = 0xffffffff;
  if (socket.fd() < 0 || send(socket.fd(), &question, sizeof question, 0) < 0)
    return Status::io(std::string("sock_diag: ") + std::strerror(errno));
  std::vector<char> buffer(65536);
  while (true) {
    const ssize_t n = recv(socket.fd(), buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status::io(std::string("sock_diag: ") + std::strerror(errno));
    size_t left = static_cast<size_t>(n);
    for (const auto* header = reinterpret_cast<const nlmsghdr*>(buffer.data());
         NLMSG_OK(header, left); header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE) return {};
      if (header->nlmsg_type == NLMSG_ERROR) return Status::io("sock_diag: the dump was refused");
      if (header->nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) continue;
      const auto* message = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
      if (message->idiag_state < kStates.size()) ++totals.states[message->idiag_state];
      totals.rx_queued += message->idiag_rqueue;
      totals.tx_queued += message->idiag_wqueue;
    }
  }
}

// `  0: 0100007F:0016 00000000:0000 0A 00000000:00000000 …`
void take_file(std::string_view text, Totals& totals) {
  std::string_view line;
  next_line(text, line);  // the header
  const auto hex = [](std::string_view digits) {
    uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return value;
  };
  while (next_line(text, line)) {
    for (int skip = 0; skip < 3; ++skip) next_word(line);
    const uint64_t state = hex(next_word(line));
    const std::string_view queues = next_word(line);
    const size_t colon = queues.find(':');
    if (colon == std::string_view::npos) continue;
    if (state < kStates.size()) ++totals.states[state];
    totals.tx_queued += static_cast<double>(hex(queues.substr(0, colon)));
    totals.rx_queued += static_cast<double>(hex(queues.substr(colon + 1)));
  }
}

class TcpstatCollector final : public Collector {
 public:
  explicit TcpstatCollector(const Sources& sources)
      : directory_(sources.proc("net")), live_(sources.procfs == "/proc") {}
  std::string_view name() const override { return "tcpstat"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    Totals totals;
    if (!live_ || !ask_kernel(AF_INET, totals).ok() || !ask_kernel(AF_INET6, totals).ok()) {
      totals = Totals();
      std::string text;
      VAGT_CHECK_OK(read_file(directory_ + "/tcp", text));
      take_file(text, totals);
      if (read_file(directory_ + "/tcp6", text).ok()) take_file(text, totals);
    }
    Family& family = sink.gauge("node_tcp_connection_states", "Number of connection states.");
    for (size_t i = 1; i < kStates.size(); ++i)
      if (totals.states[i] > 0) family.add({{"state", kStates[i]}}, totals.states[i]);
    family.add({{"state", "rx_queued_bytes"}}, totals.rx_queued);
    family.add({{"state", "tx_queued_bytes"}}, totals.tx_queued);
    return {};
  }

 private:
  const std::string directory_;
  const bool live_;
};

}  // namespace

CollectorPtr make_tcpstat(const Sources& sources, const Filters&) {
  return std::make_unique<TcpstatCollector>(sources);
}

}  // namespace vagt::agent

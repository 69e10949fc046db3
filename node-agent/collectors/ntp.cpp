// What an NTP server thinks of the time, and how far this clock is from it.
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

constexpr double kEpochs = 2208988800.0;  // seconds from 1900 to 1970
using Packet = std::array<unsigned char, 48>;

double fixed(const Packet& packet, size_t at, size_t whole_bytes) {
  double value = 0;
  for (size_t i = 0; i < whole_bytes * 2; ++i) value = value * 256 + packet[at + i];
  for (size_t i = 0; i < whole_bytes; ++i) value /= 256;
  return value;
}

class UdpSocket {
 public:
  ~UdpSocket() {
    if (fd_ >= 0) close(fd_);
  }
  UdpSocket() = default;
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  Status connect_to(const std::string& server) {
    const size_t colon = server.rfind(':');
    const std::string host = server.substr(0, colon),
                      port = colon == std::string::npos ? "123" : server.substr(colon + 1);
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_DGRAM;
    if (const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0)
      return Status(Code::Unavailable, server + ": " + gai_strerror(error));
    fd_ = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const timeval timeout{2, 0};
    if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    const bool good = fd_ >= 0 && connect(fd_, found->ai_addr, found->ai_addrlen) == 0;
    const int error = errno;
    freeaddrinfo(found);
    return good ? Status() : Status(Code::Unavailable, server + ": " + std::strerror(error));
  }
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

class NtpCollector final : public Collector {
 public:
  NtpCollector(const Sources& sources, const Filters& filters)
      : server_(filters.ntp_server), clock_(*sources.clock) {}
  std::string_view name() const override { return "ntp"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    UdpSocket socket;
    VAGT_CHECK_OK(socket.connect_to(server_));
    Packet packet{};
    packet[0] = 4 << 3 | 3;  // version 4, client
    const double sent = to_seconds(clock_.now());
    const auto began = clock_.steady_now();
    if (send(socket.fd(), packet.data(), packet.size(), 0) < 0)
      return Status(Code::Unavailable, server_ + ": " + std::strerror(errno));
    const ssize_t n = recv(socket.fd(), packet.data(), packet.size(), 0);
    const double rtt = std::chrono::duration<double>(clock_.steady_now() - began).count();
    if (n < 0) return Status(Code::Timeout, server_ + ": no answer");
    if (n < 48 || (packet[0] & 7) != 4) return Status(Code::Corruption, server_ + ": not NTP");
    write(sink, packet, sent, rtt);
    return {};
  }

 private:
  static void write(MetricSink& sink, const Packet& packet, double sent, double rtt) {
    const double received_there = fixed(packet, 32, 4) - kEpochs,
                 sent_there = fixed(packet, 40, 4) - kEpochs,
                 reference = fixed(packet, 16, 4) - kEpochs;
    const double offset = ((received_there - sent) + (sent_there - (sent + rtt))) / 2;
    const int leap = packet[0] >> 6, stratum = packet[1];
    const double delay = fixed(packet, 4, 2), dispersion = fixed(packet, 8, 2);
    sink.gauge("node_ntp_stratum", "NTPD stratum.").add(stratum);
    sink.gauge("node_ntp_leap", "NTPD leap second indicator, 2 bits.").add(leap);
    sink.gauge("node_ntp_rtt_seconds", "RTT to NTPD.").add(rtt);
    sink.gauge("node_ntp_offset_seconds", "ClockOffset between NTP and local clock.").add(offset);
    sink.gauge("node_ntp_reference_timestamp_seconds", "NTPD ReferenceTime, UNIX timestamp.")
        .add(reference > 0 ? reference : 0);
    sink.gauge("node_ntp_root_delay_seconds", "NTPD RootDelay.").add(delay);
    sink.gauge("node_ntp_root_dispersion_seconds", "NTPD RootDispersion.").add(dispersion);
    const bool sane = leap != 3 && stratum > 0 && stratum < 16 && reference > 0 &&
                      received_there <= sent_there && delay / 2 + dispersion < 16;
    sink.gauge("node_ntp_sanity", "NTPD sanity according to RFC5905 heuristics.").add(sane ? 1 : 0);
  }

  const std::string server_;
  const Clock& clock_;
};

}  // namespace

CollectorPtr make_ntp(const Sources& sources, const Filters& filters) {
  return std::make_unique<NtpCollector>(sources, filters);
}

}  // namespace vagt::agent

#include "node-agent/links.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vagt::agent {
namespace {

constexpr size_t kBuffer = 32768;  // what the kernel fills at most per datagram

Status last_error(std::string_view what) {
  return Status::io(std::string(what) + ": " + std::strerror(errno));
}

void set_address(std::string& out, const rtattr* attr) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto* bytes = static_cast<const unsigned char*>(RTA_DATA(attr));
  out.clear();
  for (size_t i = 0; i < RTA_PAYLOAD(attr); ++i) {
    if (i > 0) out += ':';
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
}

void set_text(std::string& out, const rtattr* attr) {
  const auto* text = static_cast<const char*>(RTA_DATA(attr));
  out.assign(text, strnlen(text, RTA_PAYLOAD(attr)));
}

template <class T>
std::optional<uint32_t> number(const rtattr* attr) {
  T value;
  if (RTA_PAYLOAD(attr) < sizeof value) return std::nullopt;
  std::memcpy(&value, RTA_DATA(attr), sizeof value);
  return value;
}

void take_attribute(const rtattr* attr, Link& link) {
  switch (attr->rta_type) {
    case IFLA_IFNAME:
      return set_text(link.device, attr);
    case IFLA_IFALIAS:
      return set_text(link.alias, attr);
    case IFLA_ADDRESS:
      return set_address(link.address, attr);
    case IFLA_BROADCAST:
      return set_address(link.broadcast, attr);
    case IFLA_MTU:
      link.mtu = number<uint32_t>(attr);
      return;
    case IFLA_TXQLEN:
      link.tx_queue_len = number<uint32_t>(attr);
      return;
    case IFLA_OPERSTATE:
      link.operstate = static_cast<uint8_t>(number<uint8_t>(attr).value_or(0));
      return;
    case IFLA_CARRIER:
      link.carrier = number<uint8_t>(attr);
      return;
    case IFLA_CARRIER_CHANGES:
      link.carrier_changes = number<uint32_t>(attr);
      return;
    case IFLA_CARRIER_UP_COUNT:
      link.carrier_up = number<uint32_t>(attr);
      return;
    case IFLA_CARRIER_DOWN_COUNT:
      link.carrier_down = number<uint32_t>(attr);
      return;
    case IFLA_STATS64:
      // Older and newer kernels have fewer or more fields.
      std::memcpy(&link.stats, RTA_DATA(attr),
                  std::min<size_t>(RTA_PAYLOAD(attr), sizeof link.stats));
      return;
    default:
      return;
  }
}

// Buffers of the link that was in this place before are used again.
void clear(Link& link) {
  link.device.clear();
  link.address.clear();
  link.broadcast.clear();
  link.alias.clear();
  link.mtu = link.tx_queue_len = link.carrier = link.carrier_changes = std::nullopt;
  link.carrier_up = link.carrier_down = std::nullopt;
  link.operstate = 0;
  link.stats = {};
}

bool parse_link(const nlmsghdr* header, Link& link) {
  if (header->nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg))) return false;
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  clear(link);
  link.index = info->ifi_index;
  link.flags = info->ifi_flags;
  size_t left = header->nlmsg_len - NLMSG_LENGTH(sizeof(ifinfomsg));
  for (const rtattr* attr = IFLA_RTA(info); RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
    take_attribute(attr, link);
  return !link.device.empty();
}

}  // namespace

LinkReader::~LinkReader() {
  if (fd_ >= 0) close(fd_);
}

Status LinkReader::open() {
  fd_ = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd_ < 0) return last_error("netlink socket");
  const timeval timeout{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  buffer_.resize(kBuffer);
  return {};
}

Result<std::span<const Link>> LinkReader::read() {
  if (fd_ < 0) VAGT_CHECK_OK(open());
  if (const Status status = dump(); !status.ok()) {
    close(fd_);  // what is still under way would answer the next question
    fd_ = -1;
    return status;
  }
  return std::span<const Link>(links_.data(), count_);
}

Status LinkReader::dump() {
  struct {
    nlmsghdr header;
    ifinfomsg info;
    rtattr mask_head;
    uint32_t mask;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.header.nlmsg_seq = ++sequence_;
  request.mask_head.rta_type = IFLA_EXT_MASK;
  request.mask_head.rta_len = RTA_LENGTH(sizeof request.mask);
  request.mask = with_stats_ ? 0 : RTEXT_FILTER_SKIP_STATS;
  if (send(fd_, &request, sizeof request, 0) < 0) return last_error("netlink send");
  count_ = 0;
  bool done = false;
  while (!done) {
    const ssize_t n = recv(fd_, buffer_.data(), buffer_.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return last_error("netlink receive");
    VAGT_CHECK_OK(take(buffer_.data(), static_cast<size_t>(n), sequence_, done));
  }
  return {};
}

Status LinkReader::take(const char* data, size_t size, uint32_t sequence, bool& done) {
  for (const auto* header = reinterpret_cast<const nlmsghdr*>(data); NLMSG_OK(header, size);
       header = NLMSG_NEXT(header, size)) {
    if (header->nlmsg_seq != sequence) continue;
    if (header->nlmsg_type == NLMSG_DONE) {
      done = true;
      return {};
    }
    if (header->nlmsg_type == NLMSG_ERROR) return Status::io("netlink: RTM_GETLINK was refused");
    if (header->nlmsg_type != RTM_NEWLINK) continue;
    if (count_ == links_.size()) links_.emplace_back();
    if (parse_link(header, links_[count_])) ++count_;
  }
  return {};
}

std::string_view operstate_name(uint8_t operstate) {
  constexpr std::string_view kNames[] = {"unknown", "notpresent", "down", "lowerlayerdown",
                                         "testing", "dormant",    "up"};
  return operstate < std::size(kNames) ? kNames[operstate] : "unknown";
}

}  // namespace vagt::agent

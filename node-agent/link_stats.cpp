#include "node-agent/link_stats.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace vagt::agent {
namespace {

class Socket {
 public:
  Socket() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

Status last_error(std::string_view what) {
  return Status::io(std::string(what) + ": " + std::strerror(errno));
}

void parse_link(const nlmsghdr* header, std::vector<LinkStats>& out) {
  if (header->nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg))) return;
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  size_t left = header->nlmsg_len - NLMSG_LENGTH(sizeof(ifinfomsg));
  LinkStats link{};
  bool has_stats = false;
  for (const rtattr* attr = IFLA_RTA(info); RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
    const size_t size = RTA_PAYLOAD(attr);
    if (attr->rta_type == IFLA_IFNAME) {
      link.device.assign(static_cast<const char*>(RTA_DATA(attr)),
                         strnlen(static_cast<const char*>(RTA_DATA(attr)), size));
    } else if (attr->rta_type == IFLA_STATS64) {
      // Older and newer kernels have fewer or more fields.
      std::memcpy(&link.stats, RTA_DATA(attr), std::min(size, sizeof link.stats));
      has_stats = true;
    }
  }
  if (has_stats && !link.device.empty()) out.push_back(std::move(link));
}

}  // namespace

Result<std::vector<LinkStats>> read_link_stats() {
  const Socket socket;
  if (socket.fd() < 0) return last_error("netlink socket");
  const timeval timeout{1, 0};
  setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  struct {
    nlmsghdr header;
    ifinfomsg info;
  } request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof(ifinfomsg));
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  if (send(socket.fd(), &request, request.header.nlmsg_len, 0) < 0)
    return last_error("netlink send");
  std::vector<LinkStats> links;
  alignas(nlmsghdr) char buffer[32768];
  while (true) {
    const ssize_t n = recv(socket.fd(), buffer, sizeof buffer, 0);
    if (n <= 0) return last_error("netlink receive");
    size_t left = static_cast<size_t>(n);
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer); NLMSG_OK(header, left);
         header = NLMSG_NEXT(header, left)) {
      if (header->nlmsg_type == NLMSG_DONE) return links;
      if (header->nlmsg_type == NLMSG_ERROR) return Status::io("netlink: RTM_GETLINK was refused");
      if (header->nlmsg_type == RTM_NEWLINK) parse_link(header, links);
    }
  }
}

}  // namespace vagt::agent

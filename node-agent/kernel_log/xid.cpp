// NVIDIA's XID codes by how soon somebody must act.
#include <algorithm>
#include <array>

#include "node-agent/kernel_log/record.h"

namespace vagt::agent {
namespace {

// A GPU is lost or computes wrongly, or every job on it is dead.
constexpr int kPage[] = {46,  48,  54,  62,  64,  74,  79,  95,  109, 110,
                         119, 120, 136, 140, 143, 155, 157, 158, 167, 169};
// Act at the next gap.
constexpr int kTicket[] = {38,  44,  57,  58,  59,  61,  78,  80,  92,  94,  121,
                           122, 123, 124, 125, 137, 144, 145, 146, 147, 148, 149,
                           150, 151, 154, 156, 159, 161, 164, 165, 166, 168, 170};

constexpr auto kSerious = [] {
  std::array<int, std::size(kPage) + std::size(kTicket)> all{};
  size_t n = 0;
  for (const int code : kPage) all[n++] = code;
  for (const int code : kTicket) all[n++] = code;
  return all;
}();

}  // namespace

std::span<const int> serious_xids() { return kSerious; }

std::string_view xid_severity(int code) {
  if (std::find(std::begin(kPage), std::end(kPage), code) != std::end(kPage)) return "page";
  if (std::find(std::begin(kTicket), std::end(kTicket), code) != std::end(kTicket)) return "ticket";
  return "info";
}

}  // namespace vagt::agent

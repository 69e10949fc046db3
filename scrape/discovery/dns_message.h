// DNS messages as they travel (RFC 1035, EDNS0 of RFC 6891): one question out, records back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vagt::scrape {

enum class DnsType : uint16_t { A = 1, NS = 2, CNAME = 5, MX = 15, AAAA = 28, SRV = 33 };

struct DnsRecord {
  DnsType type{};
  std::string target;  // an address as text, or a name with its final dot
  uint16_t port = 0;   // SRV
};

struct DnsAnswer {
  static constexpr int kNoError = 0, kNameError = 3;
  int code = kNoError;
  bool is_truncated = false;
  std::vector<DnsRecord> records;  // of the answer section; types other than the above left out
};

// A query with recursion desired; with `edns` it offers to take answers of 4 KiB. InvalidArgument:
// not a domain name.
Result<std::string> encode_dns_query(uint16_t id, std::string_view name, DnsType type, bool edns);

// Reads the answer to that query. NotFound: it is one to another question. Corruption: it is none.
Result<DnsAnswer> decode_dns_answer(std::string_view message, uint16_t id, std::string_view name,
                                    DnsType type);

}  // namespace vagt::scrape

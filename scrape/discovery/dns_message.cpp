#include "scrape/discovery/dns_message.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>

#include "base/labels.h"
#include "net/url.h"

namespace vagt::scrape {
namespace {

constexpr size_t kMaxName = 255, kMaxLabel = 63, kHeaderBytes = 12;
constexpr uint16_t kClassInternet = 1, kTypeOpt = 41, kUdpBytes = 4096;
// Each jump leads backwards, so that this is more than any honest message needs.
constexpr int kMaxJumps = 64;

void put16(std::string& out, uint16_t value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value & 0xFF);
}

Status put_name(std::string& out, std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  if (name.size() > kMaxName - 2)
    return Status::invalid(fmt::format("{} is too long for a domain name", quote(name)));
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    if (dot == 0 || dot > kMaxLabel)
      return Status::invalid(fmt::format("a part of {} has no or too many bytes", quote(name)));
    out += static_cast<char>(dot);
    out += name.substr(0, dot);
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  out += '\0';
  return {};
}

Status cut_short() { return {Code::Corruption, "the DNS message is cut short"}; }

// Walks over a message; every read is checked.
class Reader {
 public:
  explicit Reader(std::string_view message) : message_(message) {}
  bool has(size_t bytes) const { return at_ + bytes <= message_.size(); }
  size_t at() const { return at_; }
  void skip(size_t bytes) { at_ += bytes; }
  std::string_view bytes(size_t count) const { return message_.substr(at_, count); }
  Result<uint16_t> u16() {
    if (!has(2)) return cut_short();
    const auto high = static_cast<unsigned char>(message_[at_]);
    const auto low = static_cast<unsigned char>(message_[at_ + 1]);
    at_ += 2;
    return static_cast<uint16_t>(high << 8 | low);
  }
  // With its final dot; dots and bytes that do not print are escaped.
  Result<std::string> name() {
    std::string out;
    size_t at = at_;
    bool has_jumped = false;
    for (int jumps = 0;;) {
      if (at >= message_.size()) return cut_short();
      const auto length = static_cast<unsigned char>(message_[at]);
      if (length == 0) {
        if (!has_jumped) at_ = at + 1;
        return out.empty() ? "." : out;
      }
      if ((length & 0xC0) == 0xC0) {
        if (at + 1 >= message_.size()) return cut_short();
        const size_t to = (length & 0x3Fu) << 8 | static_cast<unsigned char>(message_[at + 1]);
        if (!has_jumped) at_ = at + 2;
        has_jumped = true;
        if (to >= at || ++jumps > kMaxJumps)
          return Status(Code::Corruption, "a name in the DNS message points to itself");
        at = to;
        continue;
      }
      if (length > kMaxLabel) return Status(Code::Corruption, "a name in the DNS message is none");
      if (at + 1 + length > message_.size()) return cut_short();
      append_label(out, message_.substr(at + 1, length));
      if (out.size() > 4 * kMaxName)
        return Status(Code::Corruption, "a name in the DNS message is too long");
      at += 1 + length;
    }
  }

 private:
  static void append_label(std::string& out, std::string_view label) {
    for (const char c : label) {
      if (c == '.' || c == '\\') {
        out += '\\', out += c;
      } else if (c < ' ' || c > '~') {
        out += fmt::format("\\{:03}", static_cast<unsigned char>(c));
      } else {
        out += c;
      }
    }
    out += '.';
  }

  std::string_view message_;
  size_t at_ = 0;
};

std::string with_dot(std::string_view name) {
  return std::string(name) + (name.ends_with('.') ? "" : ".");
}

Status read_address(const Reader& in, int family, size_t length, size_t want, DnsRecord& record) {
  if (length != want) return {Code::Corruption, "an address in the DNS message has a wrong length"};
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, in.bytes(want).data(), text.data(), text.size());
  record.target = text.data();
  return {};
}

// The data of one record, which `in` stands at the begin of. False: a type nobody asked for.
Result<bool> read_data(Reader in, uint16_t type, size_t length, DnsRecord& record) {
  record.type = static_cast<DnsType>(type);
  switch (record.type) {
    case DnsType::A:
      VAGT_CHECK_OK(read_address(in, AF_INET, length, 4, record));
      return true;
    case DnsType::AAAA:
      VAGT_CHECK_OK(read_address(in, AF_INET6, length, 16, record));
      return true;
    case DnsType::MX:
      in.skip(2);  // preference
      break;
    case DnsType::SRV: {
      in.skip(4);  // priority, weight
      VAGT_TRY(record.port, in.u16());
      break;
    }
    case DnsType::NS:
    case DnsType::CNAME:
      break;
    default:
      return false;
  }
  VAGT_TRY(record.target, in.name());
  return true;
}

Status read_question(Reader& in, uint16_t count, std::string_view name, DnsType type) {
  const Status other = Status::not_found("an answer to another question");
  if (count != 1) return other;
  VAGT_TRY(const std::string asked, in.name());
  VAGT_TRY(const uint16_t asked_type, in.u16());
  VAGT_CHECK_OK(in.u16().status());
  const bool is_ours =
      net::equals_ignoring_case(asked, with_dot(name)) && asked_type == static_cast<uint16_t>(type);
  return is_ours ? Status() : other;
}

Status read_record(Reader& in, DnsAnswer& answer) {
  VAGT_CHECK_OK(in.name().status());
  VAGT_TRY(const uint16_t type, in.u16());
  VAGT_TRY(const uint16_t network, in.u16());
  in.skip(4);  // time to live
  VAGT_TRY(const uint16_t length, in.u16());
  if (!in.has(length)) return cut_short();
  DnsRecord record;
  VAGT_TRY(const bool is_known, read_data(in, type, length, record));
  if (is_known && network == kClassInternet) answer.records.push_back(std::move(record));
  in.skip(length);
  return {};
}

}  // namespace

Result<std::string> encode_dns_query(uint16_t id, std::string_view name, DnsType type, bool edns) {
  constexpr uint16_t kRecursionDesired = 0x0100;
  std::string out;
  put16(out, id);
  put16(out, kRecursionDesired);
  put16(out, 1);  // questions
  put16(out, 0);
  put16(out, 0);
  put16(out, edns ? 1 : 0);
  VAGT_CHECK_OK(put_name(out, name));
  put16(out, static_cast<uint16_t>(type));
  put16(out, kClassInternet);
  if (!edns) return out;
  out += '\0';  // the root's name
  put16(out, kTypeOpt);
  put16(out, kUdpBytes);
  out.append(6, '\0');  // extended code, version, flags, no options
  return out;
}

Result<DnsAnswer> decode_dns_answer(std::string_view message, uint16_t id, std::string_view name,
                                    DnsType type) {
  if (message.size() < kHeaderBytes) return cut_short();
  Reader in(message);
  VAGT_TRY(const uint16_t answer_id, in.u16());
  VAGT_TRY(const uint16_t flags, in.u16());
  VAGT_TRY(const uint16_t questions, in.u16());
  VAGT_TRY(const uint16_t records, in.u16());
  in.skip(4);
  const bool is_answer = (flags & 0x8000) != 0;
  if (answer_id != id || !is_answer) return Status::not_found("an answer to another question");
  DnsAnswer answer;
  answer.code = flags & 0xF;
  answer.is_truncated = (flags & 0x0200) != 0;
  // Some servers repeat no question when they refuse.
  if (questions == 0 && answer.code != DnsAnswer::kNoError) return answer;
  VAGT_CHECK_OK(read_question(in, questions, name, type));
  if (answer.is_truncated) return answer;
  for (uint16_t i = 0; i < records; ++i) VAGT_CHECK_OK(read_record(in, answer));
  return answer;
}

}  // namespace vagt::scrape

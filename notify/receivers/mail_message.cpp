#include "notify/receivers/mail_message.h"

namespace vagt::notify {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

void append_hex(std::string& out, char c) {
  out.push_back('=');
  out.push_back(kHex[static_cast<uint8_t>(c) >> 4]);
  out.push_back(kHex[static_cast<uint8_t>(c) & 15]);
}

size_t rune_length(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) ++end;
  return end - at;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Result<std::string> one_address(std::string_view entry) {
  std::string_view address = trim(entry);
  if (const size_t open = address.rfind('<'); open != std::string_view::npos) {
    if (!address.ends_with('>'))
      return Status::invalid("mail: no angle-addr: " + std::string(entry));
    address = trim(address.substr(open + 1, address.size() - open - 2));
  }
  const size_t at = address.rfind('@');
  const bool clean = address.find_first_of(" \t\r\n<>\"") == std::string_view::npos;
  if (at == std::string_view::npos || at == 0 || at + 1 == address.size() || !clean) {
    return Status::invalid("mail: missing '@' or angle-addr: " + std::string(entry));
  }
  return std::string(address);
}

}  // namespace

std::string quoted_printable(std::string_view text) {
  constexpr size_t kMaxLine = 75;  // and a soft break
  std::string out;
  size_t line = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool end_of_line = i + 1 == text.size() || text[i + 1] == '\n' || text[i + 1] == '\r';
    if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    if (c == '\n') {
      out += "\r\n";
      line = 0;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    const bool plain =
        (byte >= 33 && byte <= 126 && c != '=') || ((c == ' ' || c == '\t') && !end_of_line);
    const size_t width = plain ? 1 : 3;
    if (line + width > kMaxLine) {
      out += "=\r\n";
      line = 0;
    }
    if (plain) {
      out.push_back(c);
    } else {
      append_hex(out, c);
    }
    line += width;
  }
  return out;
}

std::string encode_header(std::string_view text) {
  bool plain = true;
  for (const char c : text) plain = plain && ((c >= 32 && c <= 126) || c == '\t');
  if (plain) return std::string(text);
  constexpr std::string_view kOpen = "=?utf-8?q?", kClose = "?=";
  constexpr size_t kMaxWord = 75;
  std::string out(kOpen);
  size_t word = kOpen.size();
  for (size_t i = 0; i < text.size();) {
    const size_t length = rune_length(text, i);
    std::string piece;
    for (const char c : text.substr(i, length)) {
      if (c == ' ') {
        piece.push_back('_');
      } else if (c > 32 && c < 127 && std::string_view("=?_").find(c) == std::string_view::npos) {
        piece.push_back(c);
      } else {
        append_hex(piece, c);
      }
    }
    if (word + piece.size() + kClose.size() > kMaxWord) {
      out.append(kClose).append("\r\n ").append(kOpen);
      word = kOpen.size();
    }
    out += piece;
    word += piece.size();
    i += length;
  }
  return out.append(kClose);
}

Result<std::vector<std::string>> mail_addresses(std::string_view list) {
  std::vector<std::string> out;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '"' && (i == 0 || list[i - 1] != '\\')) quoted = !quoted;
    if (i < list.size() && (list[i] != ',' || quoted)) continue;
    const std::string_view entry = list.substr(start, i - start);
    start = i + 1;
    if (trim(entry).empty() && i == list.size() && !out.empty()) break;
    VAGT_TRY(std::string address, one_address(entry));
    out.push_back(std::move(address));
  }
  return out;
}

std::string build_mail(const std::vector<std::pair<std::string, std::string>>& headers,
                       const std::string& boundary, const std::vector<MailPart>& parts) {
  std::string out;
  for (const auto& [name, value] : headers) {
    out.append(name).append(": ").append(encode_header(value)).append("\r\n");
  }
  out += "Content-Type: multipart/alternative;  boundary=" + boundary + "\r\n";
  out += "MIME-Version: 1.0\r\n\r\n";
  for (const MailPart& part : parts) {
    out += "--" + boundary +
           "\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Type: " + part.content_type +
           "\r\n\r\n" + quoted_printable(part.body) + "\r\n";
  }
  return out + "--" + boundary + "--\r\n";
}

}  // namespace vagt::notify

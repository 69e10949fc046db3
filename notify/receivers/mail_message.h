// An RFC 5322 message with alternatives: headers encoded, bodies quoted-printable.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace vagt::notify {

struct MailPart {
  std::string content_type;  // "text/plain; charset=UTF-8"
  std::string body;          // UTF-8, \n line ends
};

// multipart/alternative with CRLF line ends. `headers` without Content-Type and MIME-Version.
std::string build_mail(const std::vector<std::pair<std::string, std::string>>& headers,
                       const std::string& boundary, const std::vector<MailPart>& parts);

std::string quoted_printable(std::string_view text);
// RFC 2047, Q encoding, where the text needs it.
std::string encode_header(std::string_view text);
// "a@x, B <b@y>" to bare addresses. InvalidArgument: one of them has none.
Result<std::vector<std::string>> mail_addresses(std::string_view list);

}  // namespace vagt::notify

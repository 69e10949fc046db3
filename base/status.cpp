#include "base/status.h"

namespace vagt {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::Ok:
      return "ok";
    case Code::InvalidArgument:
      return "invalid_argument";
    case Code::NotFound:
      return "not_found";
    case Code::OutOfOrder:
      return "out_of_order";
    case Code::OutOfBounds:
      return "out_of_bounds";
    case Code::Duplicate:
      return "duplicate";
    case Code::LimitExceeded:
      return "limit_exceeded";
    case Code::Unavailable:
      return "unavailable";
    case Code::Timeout:
      return "timeout";
    case Code::Cancelled:
      return "cancelled";
    case Code::Corruption:
      return "corruption";
    case Code::Io:
      return "io";
    case Code::Internal:
      return "internal";
  }
  return "unknown";
}

Status&& Status::at(std::string_view where) && {
  if (!ok()) {
    std::string located;
    located.reserve(where.size() + 2 + message_.size());
    located.append(where).append(": ").append(message_);
    message_ = std::move(located);
  }
  return std::move(*this);
}

}  // namespace vagt

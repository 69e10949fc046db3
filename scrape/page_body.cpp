#include "scrape/page_body.h"

#include <algorithm>

namespace vagt::scrape {

namespace {

// Address space that a page gets at once when it turns out to be large: memory only where it is
// written to, and no copies while it grows.
constexpr uint64_t kReserved = 64u << 20;
constexpr uint64_t kCountedStep = 1u << 20;

}  // namespace

bool PageBody::take(std::string_view piece) {
  if (!share_) return false;
  const uint64_t size = text_.size() + piece.size();
  if (size > max_bytes_) return refuse({Code::LimitExceeded, "the page is larger than its limit"});
  if (size > kFreeBytes) {
    const uint64_t counted = (size + kCountedStep - 1) / kCountedStep * kCountedStep;
    if (!share_->grow_to(std::min(counted, max_bytes_))) {
      return refuse(
          {Code::Unavailable, "the pages of all targets under way together are too large"});
    }
    if (size > text_.capacity())
      text_.reserve(std::max({size, std::min(max_bytes_, kReserved), 2 * text_.capacity()}));
  }
  text_.append(piece);
  return true;
}

bool PageBody::refuse(Status fault) {
  fault_ = std::move(fault);
  std::string().swap(text_);
  share_.reset();
  return false;
}

}  // namespace vagt::scrape

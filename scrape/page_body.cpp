#include "scrape/page_body.h"

#include <algorithm>

namespace vagt::scrape {

bool PageBody::take(std::string_view piece) {
  const size_t size = text_.size() + piece.size();
  if (size > max_bytes_) {
    fault_ = {Code::LimitExceeded, "the page is larger than its limit"};
    return false;
  }
  if (size > text_.capacity()) {
    const uint64_t capacity =
        std::max<uint64_t>(size, std::min<uint64_t>(2 * text_.capacity(), max_bytes_));
    if (!share_.grow_to(capacity)) {
      fault_ = {Code::Unavailable, "the pages of all targets under way together are too large"};
      return false;
    }
    text_.reserve(capacity);
  }
  text_.append(piece);
  return true;
}

}  // namespace vagt::scrape

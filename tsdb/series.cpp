#include "tsdb/series.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "tsdb/bytes.h"
#include "tsdb/live_block.h"

namespace vagt::tsdb {
namespace {

constexpr size_t kBlock = 64;     // samples after which an encoded block is left alone
constexpr size_t kMaxLate = 240;  // samples after which out-of-order ones become chunks

}  // namespace

SeriesExtra& Series::make_extra() {
  if (extra_ == nullptr) extra_ = std::make_unique<SeriesExtra>();
  return *extra_;
}

void Series::release_extra_if_empty() {
  if (extra_ != nullptr && extra_->closed.empty() && extra_->late.columns.t.empty()) extra_.reset();
}

void Series::resize_open(size_t size) {
  char* bytes = static_cast<char*>(std::realloc(open_.get(), size));
  if (bytes == nullptr) throw std::bad_alloc();
  static_cast<void>(open_.release());
  open_.reset(bytes);
  open_size_ = static_cast<uint16_t>(size);
}

void Series::set_last_block(size_t at, std::string_view block, size_t count) {
  assert(at + 2 + block.size() <= UINT16_MAX);
  resize_open(at + 2 + block.size());
  const auto size = static_cast<uint16_t>(block.size());
  std::memcpy(open_.get() + at, &size, 2);
  std::memcpy(open_.get() + at + 2, block.data(), block.size());
  last_block_at_ = static_cast<uint16_t>(at + 2);
  last_block_count_ = static_cast<uint8_t>(count);
}

size_t Series::tail_times(int64_t (&t)[kTail]) const {
  int64_t at = newest_t.load(std::memory_order_relaxed);
  for (size_t i = tail_count_; i-- > 0; at -= tail_dt_[i]) t[i] = at;
  return tail_count_;
}

bool Series::extend_live_block() {
  if (open_size_ == 0 || !is_live_block(last_block())) return false;
  int64_t t[kTail];
  tail_times(t);
  std::string group;
  const std::string_view block = last_block();
  if (!live_extend({open_.get() + last_block_at_, block.size()}, last_block_count_, t, tail_v_,
                   open_first_t(), group))
    return false;
  last_block_count_ = static_cast<uint8_t>(last_block_count_ + kTail);
  if (group.empty()) return true;
  const size_t end = open_size_;
  resize_open(end + group.size());
  std::memcpy(open_.get() + end, group.data(), group.size());
  const auto size = static_cast<uint16_t>(open_size_ - last_block_at_);
  std::memcpy(open_.get() + last_block_at_ - 2, &size, 2);
  return true;
}

bool Series::start_live_block() {
  int64_t t[kTail];
  tail_times(t);
  const bool after_live = open_size_ > 0 && is_live_block(last_block());
  std::string block;
  if (!live_start(t, tail_v_, after_live ? live_exponent(last_block()) : 0, open_first_t(), block))
    return false;
  set_last_block(open_size_, block, kTail);
  return true;
}

// What a live block does not take is encoded as a chunk is, together with the last block while that
// is small: few blocks, few headers.
void Series::fold_tail() {
  if (tail_count_ == 0) return;
  if (tail_count_ < kTail || (!extend_live_block() && !start_live_block())) {
    RawColumns columns;
    columns.reserve(kBlock);
    size_t at = open_size_;
    if (open_size_ > 0 && last_block_count_ + tail_count_ <= kBlock &&
        !is_live_block(last_block())) {
      [[maybe_unused]] const bool good = decode_chunk(last_block(), columns);
      assert(good);
      at = last_block_at_ - 2u;
    }
    push_tail(columns);
    std::string block;
    encode_chunk(columns.t, columns.v, block);
    set_last_block(at, block, columns.size());
  }
  open_count_ = static_cast<uint8_t>(open_count_ + tail_count_);
  tail_v_[0] = newest_value();
  tail_count_ = 0;
}

void Series::clear_open() {
  tail_v_[0] = newest_value();
  open_.reset();
  open_size_ = last_block_at_ = 0;
  open_count_ = last_block_count_ = 0;
  tail_count_ = 0;
  open_span_ = 0;
}

// A chunk never spans two days: retention drops whole days.
void Series::push_closed(RawColumns& columns, uint64_t order) {
  for (size_t begin = 0; begin < columns.size();) {
    const Day day = day_of(columns.t[begin]);
    size_t end = begin + 1;
    while (end < columns.size() && day_of(columns.t[end]) == day) ++end;
    ClosedChunk chunk;
    chunk.order = order;
    chunk.span = {columns.t[begin], columns.t[end - 1], end - begin};
    encode_chunk(std::span(columns.t).subspan(begin, end - begin),
                 std::span(columns.v).subspan(begin, end - begin), chunk.bytes);
    chunk.bytes.shrink_to_fit();
    make_extra().closed.push_back(std::move(chunk));
    begin = end;
  }
}

void Series::close_open() {
  if (!has_open()) return;
  RawColumns columns;
  [[maybe_unused]] const bool good = decode_open(columns);
  assert(good);
  push_closed(columns, 0);
  clear_open();
}

void Series::close_all(uint64_t order) {
  close_open();
  if (extra_ == nullptr || extra_->late.columns.t.empty()) return;
  RawColumns late = std::exchange(extra_->late.columns, {});
  push_closed(late, order);
}

void Series::append(int64_t t, double v) {
  const int64_t last = newest_t.load(std::memory_order_relaxed);
  if (has_open() &&
      (open_count_ + tail_count_ >= static_cast<int>(close_at()) || day_of(t) != day_of(last)))
    close_open();
  const bool goes_on = has_open();
  if (tail_count_ == kTail || (tail_count_ > 0 && wrap_sub(t, last) > UINT16_MAX)) fold_tail();
  open_span_ = goes_on ? open_span_ + static_cast<uint32_t>(t - last) : 0;
  tail_dt_[tail_count_] = tail_count_ == 0 ? 0 : static_cast<uint16_t>(t - last);
  tail_v_[tail_count_++] = v;
  newest_t.store(t, std::memory_order_release);
  dirty = true;
}

void Series::resume_after(int64_t t, double v) {
  close_open();
  tail_v_[0] = v;
  newest_t.store(t, std::memory_order_release);
}

void Series::raise_disk_last_t(int64_t t) {
  if (t == kNoTime) return;
  const int64_t up = t / 1000 + (t % 1000 > 0 ? 1 : 0);
  const auto seconds = static_cast<int32_t>(std::clamp<int64_t>(up, INT32_MIN + 1, INT32_MAX));
  disk_last_ = std::max(disk_last_, seconds);
}

bool Series::append_late(int64_t t, double v, uint64_t order) {
  double there;
  if (find(t, there)) return false;
  RawColumns& late = make_extra().late.columns;
  const auto at = std::lower_bound(late.t.begin(), late.t.end(), t) - late.t.begin();
  late.t.insert(late.t.begin() + at, t);
  late.v.insert(late.v.begin() + at, v);
  dirty = true;
  if (late.size() < kMaxLate) return true;
  RawColumns full = std::exchange(late, {});
  push_closed(full, order);
  return true;
}

void Series::clear_samples() {
  clear_open();
  extra_.reset();
}

}  // namespace vagt::tsdb

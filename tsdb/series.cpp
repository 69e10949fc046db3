#include "tsdb/series.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "tsdb/bytes.h"
#include "tsdb/live_block.h"

namespace vagt::tsdb {
namespace {

constexpr size_t kBlock = 64;     // samples after which an encoded block is left alone
constexpr size_t kMaxOpen = 240;  // samples of an open chunk
constexpr size_t kMaxOpenBytes = 60'000;
constexpr size_t kMaxLate = 240;  // samples after which out-of-order ones become chunks

void copy_range(const RawColumns& from, int64_t mint, int64_t maxt, RawColumns& out) {
  const auto begin = std::lower_bound(from.t.begin(), from.t.end(), mint);
  const auto end = std::upper_bound(begin, from.t.end(), maxt);
  const auto first = begin - from.t.begin(), last = end - from.t.begin();
  out.t.insert(out.t.end(), begin, end);
  out.v.insert(out.v.end(), from.v.begin() + first, from.v.begin() + last);
}

bool find_in(const RawColumns& columns, int64_t t, double& v) {
  const auto it = std::lower_bound(columns.t.begin(), columns.t.end(), t);
  if (it == columns.t.end() || *it != t) return false;
  v = columns.v[static_cast<size_t>(it - columns.t.begin())];
  return true;
}

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

void Series::push_tail(RawColumns& out) const {
  int64_t t[kTail];
  const size_t n = tail_times(t);
  for (size_t i = 0; i < n; ++i) out.push(t[i], tail_v_[i]);
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

bool Series::decode_open(RawColumns& out) const {
  for (size_t at = 0; at < open_size_;) {
    if (at + 2 > open_size_) return false;
    uint16_t size;
    std::memcpy(&size, open_.get() + at, 2);
    at += 2;
    if (at + size > open_size_) return false;
    const std::string_view block(open_.get() + at, size);
    const bool good =
        is_live_block(block) ? live_decode(block, open_first_t(), out) : decode_chunk(block, out);
    if (!good) return false;
    at += size;
  }
  push_tail(out);
  return true;
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

bool Series::find(int64_t t, double& v) const {
  if (has_open() && t >= open_first_t()) {
    RawColumns open;
    if (decode_open(open) && find_in(open, t, v)) return true;
  }
  if (extra_ == nullptr) return false;
  if (find_in(extra_->late.columns, t, v)) return true;
  for (const ClosedChunk& chunk : extra_->closed) {
    if (t < chunk.span.first_t || t > chunk.span.last_t) continue;
    RawColumns columns;
    if (decode_chunk(chunk.bytes, columns) && find_in(columns, t, v)) return true;
  }
  return false;
}

void Series::collect(int64_t mint, int64_t maxt, std::vector<Run>& runs) const {
  const auto add = [&](uint64_t order, const RawColumns& columns) {
    Run run;
    run.order = order;
    copy_range(columns, mint, maxt, run.columns);
    if (run.columns.size() > 0) runs.push_back(std::move(run));
  };
  if (extra_ != nullptr) {
    for (const ClosedChunk& chunk : extra_->closed) {
      if (chunk.span.last_t < mint || chunk.span.first_t > maxt) continue;
      RawColumns columns;
      if (decode_chunk(chunk.bytes, columns)) add(chunk.order, columns);
    }
    if (!extra_->late.columns.t.empty()) add(UINT64_MAX, extra_->late.columns);
  }
  if (!has_open() || open_first_t() > maxt || newest_t.load(std::memory_order_relaxed) < mint)
    return;
  // Rules ask for the last few samples: these need no decoding.
  RawColumns open;
  int64_t tail[kTail];
  if (tail_times(tail) > 0 && tail[0] <= mint) {
    push_tail(open);
  } else {
    [[maybe_unused]] const bool good = decode_open(open);
    assert(good);
  }
  add(0, open);
}

void Series::read(int64_t mint, int64_t maxt, RawColumns& out) const {
  std::vector<Run> runs;
  collect(mint, maxt, runs);
  merge_runs(runs, out);
}

bool Series::overlaps(int64_t mint, int64_t maxt) const {
  if (has_open() && open_first_t() <= maxt && newest_t.load(std::memory_order_relaxed) >= mint)
    return true;
  if (extra_ == nullptr) return false;
  const std::vector<int64_t>& late = extra_->late.columns.t;
  if (!late.empty() && late.front() <= maxt && late.back() >= mint) return true;
  return std::any_of(extra_->closed.begin(), extra_->closed.end(), [&](const ClosedChunk& c) {
    return c.span.first_t <= maxt && c.span.last_t >= mint;
  });
}

int64_t Series::oldest_t() const {
  int64_t oldest = has_open() ? open_first_t() : INT64_MAX;
  if (extra_ == nullptr) return oldest;
  for (const ClosedChunk& chunk : extra_->closed) oldest = std::min(oldest, chunk.span.first_t);
  if (!extra_->late.columns.t.empty()) oldest = std::min(oldest, extra_->late.columns.t.front());
  return oldest;
}

size_t Series::chunk_count() const {
  return (has_open() ? 1 : 0) + (extra_ != nullptr ? extra_->closed.size() : 0);
}

size_t Series::memory_bytes() const {
  size_t bytes = open_size_;
  if (extra_ == nullptr) return bytes;
  bytes += sizeof(SeriesExtra) + extra_->late.columns.t.capacity() * 16;
  for (const ClosedChunk& chunk : extra_->closed) bytes += sizeof chunk + chunk.bytes.capacity();
  return bytes;
}

void Series::clear_samples() {
  clear_open();
  extra_.reset();
}

namespace {

// What a chunk in a head record is; more are closed chunks, by their order.
constexpr uint64_t kLate = 0, kOpen = 1, kClosed = 2;
// First byte of an open chunk that is kept as memory has it; no chunk begins so.
constexpr char kAsInMemory = static_cast<char>(0xff);

}  // namespace

void Series::save(uint64_t sequence, std::string& out) const {
  put_varint(out, sequence);
  put_zigzag(out, newest_t.load(std::memory_order_relaxed));
  put_varint(out, std::bit_cast<uint64_t>(newest_value()));
  put_zigzag(out, indexed_day);
  put_zigzag(out, disk_last_t());
  const auto put_chunk = [&out](uint64_t kind, std::string_view chunk) {
    put_varint(out, kind);
    put_sized(out, chunk);
  };
  std::string chunk;
  if (extra_ != nullptr) {
    for (const ClosedChunk& closed : extra_->closed)
      if (closed.sealed_epoch == 0) put_chunk(closed.order + kClosed, closed.bytes);
    if (const RawColumns& late = extra_->late.columns; late.size() > 0) {
      encode_chunk(late.t, late.v, chunk);
      put_chunk(kLate, chunk);
    }
  }
  if (!has_open()) return;
  chunk.clear();
  save_open(chunk);
  put_chunk(kOpen, chunk);
}

// Nothing is encoded for it: at a checkpoint every series comes by.
void Series::save_open(std::string& out) const {
  out.push_back(kAsInMemory);
  put_varint(out, open_span_);
  out.push_back(static_cast<char>(open_count_));
  out.push_back(static_cast<char>(last_block_count_));
  put_varint(out, last_block_at_);
  put_sized(out, {open_.get(), open_size_});
  out.push_back(static_cast<char>(tail_count_));
  for (size_t i = 1; i < tail_count_; ++i) put_varint(out, tail_dt_[i]);
  for (size_t i = 0; i < tail_count_; ++i) put_bits64(out, tail_v_[i]);
}

// newest_t is what it was. False: damaged, and nothing is open.
bool Series::restore_open(std::string_view bytes) {
  ByteReader in(bytes.substr(1));
  const uint64_t span = in.varint();
  const uint8_t count = in.byte(), last_count = in.byte();
  const uint64_t last_at = in.varint();
  const std::string_view blocks = in.sized();
  const uint8_t tail = in.byte();
  if (!in.ok() || span > kDayMillis || count > kMaxOpen || last_count > count || tail > kTail ||
      blocks.size() > kMaxOpenBytes || (blocks.empty() ? last_at > 0 : last_at < 2) ||
      last_at > blocks.size())
    return false;
  if (!blocks.empty()) {
    resize_open(blocks.size());
    std::memcpy(open_.get(), blocks.data(), blocks.size());
  }
  open_span_ = static_cast<uint32_t>(span);
  open_count_ = count;
  last_block_count_ = last_count;
  last_block_at_ = static_cast<uint16_t>(last_at);
  for (size_t i = 1; i < tail; ++i) tail_dt_[i] = static_cast<uint16_t>(in.varint());
  for (size_t i = 0; i < tail; ++i) tail_v_[i] = in.bits64();
  tail_count_ = tail;
  RawColumns all;
  if (in.ok() && decode_open(all) && all.size() == size_t{count} + tail && all.size() > 0 &&
      all.t.front() == open_first_t() && all.t.back() == newest_t.load(std::memory_order_relaxed) &&
      std::adjacent_find(all.t.begin(), all.t.end(), std::greater_equal<>()) == all.t.end() &&
      day_of(all.t.front()) == day_of(all.t.back()))
    return true;
  clear_open();
  return false;
}

bool Series::restore(std::string_view record, uint64_t& sequence) {
  ByteReader in(record);
  sequence = in.varint();
  const int64_t newest = in.zigzagged();
  newest_t.store(newest, std::memory_order_relaxed);
  tail_v_[0] = std::bit_cast<double>(in.varint());
  indexed_day = static_cast<Day>(in.zigzagged());
  raise_disk_last_t(in.zigzagged());
  while (in.ok() && !in.done()) {
    const uint64_t kind = in.varint();
    const std::string_view bytes = in.sized();
    if (kind == kOpen && !bytes.empty() && bytes[0] == kAsInMemory) {
      if (!restore_open(bytes)) return false;
      continue;
    }
    const auto span = chunk_span(bytes);
    RawColumns columns;
    if (!in.ok() || !span || !decode_chunk(bytes, columns)) return false;
    if (kind == kLate) {
      make_extra().late.columns = std::move(columns);
      continue;
    }
    // An open chunk as earlier versions kept it is as good closed.
    make_extra().closed.push_back(
        {*span, kind == kOpen ? 0 : kind - kClosed, 0, std::string(bytes)});
  }
  return in.ok();
}

void merge_runs(std::vector<Series::Run>& runs, RawColumns& out) {
  if (runs.empty()) return;
  std::stable_sort(runs.begin(), runs.end(), [](const Series::Run& a, const Series::Run& b) {
    return a.columns.t.front() < b.columns.t.front();
  });
  bool disjoint = true;
  for (size_t i = 1; i < runs.size() && disjoint; ++i)
    disjoint = runs[i - 1].columns.t.back() < runs[i].columns.t.front();
  if (disjoint) {
    for (const Series::Run& run : runs) {
      out.t.insert(out.t.end(), run.columns.t.begin(), run.columns.t.end());
      out.v.insert(out.v.end(), run.columns.v.begin(), run.columns.v.end());
    }
    return;
  }
  struct Item {
    int64_t t;
    uint64_t order;
    double v;
  };
  std::vector<Item> items;
  for (const Series::Run& run : runs)
    for (size_t i = 0; i < run.columns.size(); ++i)
      items.push_back({run.columns.t[i], run.order, run.columns.v[i]});
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.t != b.t ? a.t < b.t : a.order < b.order;
  });
  for (size_t i = 0; i < items.size(); ++i)
    if (i == 0 || items[i].t != items[i - 1].t) out.push(items[i].t, items[i].v);
}

}  // namespace vagt::tsdb

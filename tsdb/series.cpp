#include "tsdb/series.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>

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
  last_block_count_ = static_cast<uint16_t>(count);
}

size_t Series::tail_times(int64_t (&t)[kTail]) const {
  int64_t at = tail_base_;
  for (size_t i = 0; i < tail_count_; ++i) t[i] = at += tail_dt_[i];
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
                   group))
    return false;
  const size_t end = open_size_;
  resize_open(end + group.size());
  std::memcpy(open_.get() + end, group.data(), group.size());
  const auto size = static_cast<uint16_t>(open_size_ - last_block_at_);
  std::memcpy(open_.get() + last_block_at_ - 2, &size, 2);
  last_block_count_ = static_cast<uint16_t>(last_block_count_ + kTail);
  return true;
}

bool Series::start_live_block() {
  int64_t t[kTail];
  tail_times(t);
  const bool after_live = open_size_ > 0 && is_live_block(last_block());
  std::string block;
  if (!live_start(t, tail_v_, after_live ? live_exponent(last_block()) : 0, block)) return false;
  set_last_block(open_size_, block, kTail);
  return true;
}

// What a live block does not take is encoded as a chunk is, together with the last block while that
// is small: few blocks, few headers.
void Series::fold_tail() {
  if (tail_count_ == 0) return;
  if (tail_count_ < kTail || (!extend_live_block() && !start_live_block())) {
    RawColumns columns;
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
  open_count_ = static_cast<uint16_t>(open_count_ + tail_count_);
  tail_count_ = 0;
}

void Series::decode_open(RawColumns& out) const {
  for (size_t at = 0; at < open_size_;) {
    uint16_t size;
    std::memcpy(&size, open_.get() + at, 2);
    const std::string_view block(open_.get() + at + 2, size);
    if (is_live_block(block)) {
      live_decode(block, out);
    } else {
      [[maybe_unused]] const bool good = decode_chunk(block, out);
      assert(good);
    }
    at += 2u + size;
  }
  push_tail(out);
}

void Series::clear_open() {
  open_.reset();
  open_size_ = last_block_at_ = 0;
  open_count_ = last_block_count_ = 0;
  tail_count_ = 0;
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
  decode_open(columns);
  push_closed(columns, 0);
  clear_open();
}

void Series::close_all(uint64_t order) {
  close_open();
  if (extra_ == nullptr || extra_->late.columns.t.empty()) return;
  RawColumns late = std::move(extra_->late.columns);
  extra_->late.columns.clear();
  push_closed(late, order);
}

void Series::append(int64_t t, double v, uint64_t order) {
  (void)order;
  if (has_open() && (open_count_ + tail_count_ >= static_cast<int>(close_at()) ||
                     day_of(t) != day_of(open_first_)))
    close_open();
  if (!has_open()) open_first_ = t;
  int64_t last = tail_base_;
  for (size_t i = 0; i < tail_count_; ++i) last += tail_dt_[i];
  if (tail_count_ == kTail || (tail_count_ > 0 && wrap_sub(t, last) > UINT16_MAX)) fold_tail();
  if (tail_count_ == 0) tail_base_ = t;
  tail_dt_[tail_count_] = static_cast<uint16_t>(tail_count_ == 0 ? 0 : t - last);
  tail_v_[tail_count_++] = v;
  newest_bits.store(std::bit_cast<uint64_t>(v), std::memory_order_relaxed);
  newest_t.store(t, std::memory_order_relaxed);
  dirty = true;
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
  RawColumns full = std::move(late);
  late.clear();
  push_closed(full, order);
  return true;
}

bool Series::find(int64_t t, double& v) const {
  if (has_open() && t >= open_first_) {
    RawColumns open;
    decode_open(open);
    if (find_in(open, t, v)) return true;
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
  if (!has_open() || open_first_ > maxt || newest_t.load(std::memory_order_relaxed) < mint) return;
  // Rules ask for the last few samples: these need no decoding.
  RawColumns open;
  if (tail_count_ == 0 || tail_base_ > mint) {
    decode_open(open);
  } else {
    push_tail(open);
  }
  add(0, open);
}

void Series::read(int64_t mint, int64_t maxt, RawColumns& out) const {
  std::vector<Run> runs;
  collect(mint, maxt, runs);
  merge_runs(runs, out);
}

bool Series::overlaps(int64_t mint, int64_t maxt) const {
  if (has_open() && open_first_ <= maxt && newest_t.load(std::memory_order_relaxed) >= mint)
    return true;
  if (extra_ == nullptr) return false;
  const std::vector<int64_t>& late = extra_->late.columns.t;
  if (!late.empty() && late.front() <= maxt && late.back() >= mint) return true;
  return std::any_of(extra_->closed.begin(), extra_->closed.end(), [&](const ClosedChunk& c) {
    return c.span.first_t <= maxt && c.span.last_t >= mint;
  });
}

size_t Series::chunk_count() const {
  return (has_open() ? 1 : 0) + (extra_ != nullptr ? extra_->closed.size() : 0);
}

size_t Series::memory_bytes() const {
  size_t bytes = open_size_ + label_count * sizeof(PairId);
  if (extra_ == nullptr) return bytes;
  bytes += sizeof(SeriesExtra) + extra_->late.columns.t.capacity() * 16;
  for (const ClosedChunk& chunk : extra_->closed) bytes += sizeof chunk + chunk.bytes.capacity();
  return bytes;
}

void Series::clear_samples() {
  clear_open();
  extra_.reset();
}

// sequence, newest t, newest bits, indexed day, disk_last_t, then (order + 1, chunk)*: closed
// chunks that are not on disk, late samples (order 0 stands for them), the open chunk last (order 1
// with nothing after it).
void Series::save(uint64_t sequence, std::string& out) const {
  put_varint(out, sequence);
  put_zigzag(out, newest_t.load(std::memory_order_relaxed));
  put_varint(out, newest_bits.load(std::memory_order_relaxed));
  put_zigzag(out, indexed_day);
  put_zigzag(out, disk_last_t);
  const auto put_chunk = [&out](uint64_t order, std::string_view chunk) {
    put_varint(out, order);
    put_sized(out, chunk);
  };
  std::string chunk;
  if (extra_ != nullptr) {
    for (const ClosedChunk& closed : extra_->closed)
      if (closed.sealed_epoch == 0) put_chunk(closed.order + 2, closed.bytes);
    if (const RawColumns& late = extra_->late.columns; late.size() > 0) {
      encode_chunk(late.t, late.v, chunk);
      put_chunk(0, chunk);
    }
  }
  if (!has_open()) return;
  RawColumns open;
  decode_open(open);
  chunk.clear();
  encode_chunk(open.t, open.v, chunk);
  put_chunk(1, chunk);
}

bool Series::restore(std::string_view record, uint64_t& sequence) {
  ByteReader in(record);
  sequence = in.varint();
  newest_t.store(in.zigzagged(), std::memory_order_relaxed);
  newest_bits.store(in.varint(), std::memory_order_relaxed);
  indexed_day = static_cast<Day>(in.zigzagged());
  disk_last_t = in.zigzagged();
  while (in.ok() && !in.done()) {
    const uint64_t kind = in.varint();
    const std::string_view bytes = in.sized();
    const auto span = chunk_span(bytes);
    RawColumns columns;
    if (!in.ok() || !span || !decode_chunk(bytes, columns)) return false;
    if (kind == 1 && (span->count > kMaxOpen || bytes.size() > kMaxOpenBytes)) return false;
    if (kind == 0) {
      make_extra().late.columns = std::move(columns);
    } else if (kind == 1) {
      open_first_ = span->first_t;
      clear_open();
      set_last_block(0, bytes, span->count);
      open_count_ = static_cast<uint16_t>(span->count);
    } else {
      make_extra().closed.push_back({*span, kind - 2, 0, std::string(bytes)});
    }
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

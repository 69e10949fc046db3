// The head record of a series: what a checkpoint writes and a start reads. docs/formats/head.md
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "tsdb/series.h"

namespace vagt::tsdb {
namespace {

constexpr size_t kMaxOpen = 240;  // samples of an open chunk
constexpr size_t kMaxOpenBytes = 60'000;
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

}  // namespace vagt::tsdb

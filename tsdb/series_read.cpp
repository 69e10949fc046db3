// Reading a series of the head: what its raw tail, its blocks, its closed chunks and its late
// samples hold of a time range.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "tsdb/live_block.h"
#include "tsdb/series.h"

namespace vagt::tsdb {
namespace {

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

void Series::push_tail(RawColumns& out) const {
  int64_t t[kTail];
  const size_t n = tail_times(t);
  for (size_t i = 0; i < n; ++i) out.push(t[i], tail_v_[i]);
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

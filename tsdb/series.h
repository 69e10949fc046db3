// One series of the head: its newest samples raw, older ones of the open chunk encoded, closed
// chunks waiting for the disk, and what came out of order.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tsdb/bytes.h"
#include "tsdb/codec.h"
#include "tsdb/keys.h"
#include "tsdb/symbols.h"

namespace vagt::tsdb {

using Slot = uint32_t;  // a place in the head's slab

inline constexpr int64_t kNoTime = INT64_MIN;

// A finished chunk in memory. It goes to disk and is let go once no reader can miss it there.
struct ClosedChunk {
  ChunkSpan span;
  uint64_t order = 0;         // 0: its samples came in order
  uint64_t sealed_epoch = 0;  // 0: not on disk yet
  std::string bytes;
};

// Samples that are older than the newest, sorted by time.
struct LateSamples {
  RawColumns columns;
};

// What is rarely there, so that a quiet series does not pay for it.
struct SeriesExtra {
  std::vector<ClosedChunk> closed;
  LateSamples late;
};

// Fields by guard: `generation`, `newest_t`, `touched` are atomic and read without a lock; `id` and
// the labels are constant while `generation` is (whoever reads them without a hold on the series
// compares it afterwards, or under the shard's mutex); the rest belongs to the shard's mutex. Two
// cache lines: docs/formats/budget.md counts every byte.
class alignas(64) Series {
 public:
  static constexpr size_t kTail = 6;

  std::atomic<int64_t> newest_t{kNoTime};
  std::atomic<uint32_t> generation{0};  // upper half of its SeriesRef; 0: the place is free
  std::atomic<uint32_t> touched{0};     // seconds; when a sample last came, for retiring
  std::atomic<SeriesId> id{0};
  uint32_t labels = 0;  // in the head's PairLists
  uint16_t label_count = 0;
  bool on_disk = false;         // its labels are: guarded by the commit mutex
  bool dirty = false;           // changed since its head record was written
  Day indexed_day = INT32_MIN;  // the last day whose postings have it

 private:
  // The open chunk: blocks, each with its length in two bytes before it, then the raw tail. The
  // last block may be a live one. Its first sample is open_span_ before newest_t, which is its
  // last.
  uint32_t open_span_ = 0;
  struct Freed {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<char, Freed> open_;
  uint16_t open_size_ = 0, last_block_at_ = 0;
  uint8_t open_count_ = 0, last_block_count_ = 0;  // samples
  uint8_t tail_count_ = 0;
  std::unique_ptr<SeriesExtra> extra_;
  uint16_t tail_dt_[kTail];        // to the sample before; the first counts for nothing
  int32_t disk_last_ = INT32_MIN;  // seconds, rounded up
  double tail_v_[kTail];           // of an empty tail the first is the newest value

 public:
  PairRange pairs(const PairLists& lists) const { return lists.at(labels, label_count); }

  // No sample in chunks that left memory is newer than this; up to a second more than the newest
  // there. kNoTime: there is none.
  int64_t disk_last_t() const {
    if (disk_last_ == INT32_MIN) return kNoTime;
    return disk_last_ == INT32_MAX ? INT64_MAX : int64_t{disk_last_} * 1000;
  }
  void raise_disk_last_t(int64_t t);
  void forget_disk_last_t() { disk_last_ = INT32_MIN; }

  // The value at newest_t.
  double newest_value() const { return tail_v_[tail_count_ == 0 ? 0 : tail_count_ - 1]; }
  // Samples go on after this one, which is on disk. What was open is a closed chunk now.
  void resume_after(int64_t t, double v);

  // In order: `t` is beyond newest_t.
  void append(int64_t t, double v);
  // Out of order. False: a sample of that time is in memory already (the first one stays). `order`
  // marks the chunk this may close.
  bool append_late(int64_t t, double v, uint64_t order);
  // The value at exactly `t` when it is in memory.
  bool find(int64_t t, double& v) const;
  // Appends what memory holds in [mint, maxt], ascending, unique.
  void read(int64_t mint, int64_t maxt, RawColumns& out) const;
  // Memory's runs of samples, each ascending, unmerged; for a reader that has disk chunks as well.
  struct Run {
    uint64_t order = 0;
    RawColumns columns;
  };
  void collect(int64_t mint, int64_t maxt, std::vector<Run>& runs) const;

  bool overlaps(int64_t mint, int64_t maxt) const;  // memory only, without decoding
  int64_t oldest_t() const;                         // in memory; INT64_MAX: nothing is

  // Makes closed chunks of everything open (flush, delete, a finished day).
  void close_all(uint64_t order);
  bool has_open() const { return open_count_ + tail_count_ > 0; }
  size_t chunk_count() const;
  SeriesExtra* extra() { return extra_.get(); }
  const SeriesExtra* extra() const { return extra_.get(); }
  void release_extra_if_empty();
  size_t memory_bytes() const;  // beyond sizeof(Series)
  // Forgets all samples (delete, retire); generation, id and labels stay.
  void clear_samples();

  // The head record (docs/formats/head.md); restore() is called on a fresh series.
  void save(uint64_t sequence, std::string& out) const;
  bool restore(std::string_view record, uint64_t& sequence);

 private:
  void fold_tail();
  void close_open();
  void push_closed(RawColumns& columns, uint64_t order);
  size_t close_at() const {
    return 120 + id % 121;
  }  // staggered, so that they do not close at once
  int64_t open_first_t() const {
    return wrap_sub(newest_t.load(std::memory_order_relaxed), open_span_);
  }
  bool decode_open(RawColumns& out) const;  // false: damaged, for a restored one
  SeriesExtra& make_extra();
  std::string_view last_block() const {
    return {open_.get() + last_block_at_, static_cast<size_t>(open_size_ - last_block_at_)};
  }
  bool extend_live_block();
  bool start_live_block();
  // The open chunk's bytes become those before `at` and this block.
  void set_last_block(size_t at, std::string_view block, size_t count);
  void resize_open(size_t size);
  size_t tail_times(int64_t (&t)[kTail]) const;  // how many
  void push_tail(RawColumns& out) const;
  void clear_open();
  void save_open(std::string& out) const;
  bool restore_open(std::string_view bytes);
};
static_assert(sizeof(Series) == 128);

// Joins runs into one ascending, unique column; of equal times the lowest order wins.
void merge_runs(std::vector<Series::Run>& runs, RawColumns& out);

}  // namespace vagt::tsdb

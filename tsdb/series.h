// One series of the head: its newest samples raw, older ones of the open chunk encoded, closed
// chunks waiting for the disk, and what came out of order.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// Fields by guard: `ref`, `newest_t`, `newest_bits`, `touched` are atomic and read without a lock;
// `id`, `labels` are constant while `ref` is; the rest belongs to the shard's mutex.
class Series {
 public:
  static constexpr size_t kTail = 8;

  std::atomic<uint64_t> ref{0};  // 0: the place is free
  std::atomic<int64_t> newest_t{kNoTime};
  std::atomic<uint64_t> newest_bits{0};
  std::atomic<uint32_t> touched{0};  // seconds; when a sample last came, for retiring
  SeriesId id = 0;
  std::unique_ptr<SymbolPair[]> labels;
  uint16_t label_count = 0;
  bool on_disk = false;           // its labels are: guarded by the commit mutex
  bool dirty = false;             // changed since its head record was written
  Day indexed_day = INT32_MIN;    // the last day whose postings have it
  int64_t disk_last_t = kNoTime;  // newest sample in chunks that left memory

  std::span<const SymbolPair> pairs() const { return {labels.get(), label_count}; }

  // In order: `t` is beyond newest_t. `order` marks out-of-order chunks this may close.
  void append(int64_t t, double v, uint64_t order);
  // Out of order. False: a sample of that time is in memory already (the first one stays).
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

  // Makes closed chunks of everything open (flush, delete, a finished day).
  void close_all(uint64_t order);
  bool has_open() const { return open_count_ + tail_count_ > 0; }
  int64_t open_first_t() const { return open_first_; }
  size_t chunk_count() const;
  SeriesExtra* extra() { return extra_.get(); }
  const SeriesExtra* extra() const { return extra_.get(); }
  void release_extra_if_empty();
  size_t memory_bytes() const;  // beyond sizeof(Series)
  // Forgets all samples (delete, retire); ref, id and labels stay.
  void clear_samples();

  // The head record (docs/formats/keys.md); restore() is called on a fresh series.
  void save(uint64_t sequence, std::string& out) const;
  bool restore(std::string_view record, uint64_t& sequence);

 private:
  void fold_tail();
  void close_open();
  void push_closed(RawColumns& columns, uint64_t order);
  size_t close_at() const {
    return 120 + id % 121;
  }  // staggered, so that they do not close at once
  void decode_open(RawColumns& out) const;
  SeriesExtra& make_extra();
  void set_open(std::string_view keep, std::string_view block, size_t block_count);

  // The open chunk: encoded blocks, each with its length before it, then the raw tail.
  std::unique_ptr<char[]> open_;
  uint32_t open_size_ = 0, last_block_at_ = 0;
  uint16_t open_count_ = 0, last_block_count_ = 0;
  uint8_t tail_count_ = 0;
  int64_t open_first_ = 0;
  int64_t tail_base_ = 0;
  uint32_t tail_dt_[kTail];
  double tail_v_[kTail];
  std::unique_ptr<SeriesExtra> extra_;
};

// Joins runs into one ascending, unique column; of equal times the lowest order wins.
void merge_runs(std::vector<Series::Run>& runs, RawColumns& out);

}  // namespace vagt::tsdb

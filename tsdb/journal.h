// One commit as the journal keeps it. docs/formats/journal.md
#pragma once

#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/labels.h"
#include "tsdb/keys.h"
#include "tsdb/store.h"

namespace vagt::tsdb {

struct JournalSample {
  SeriesId id;
  int64_t t;
  double v;
};

// Writes samples one after the other; ids and times as differences to the sample before, of values
// the bytes that are not zero.
class JournalWriter {
 public:
  explicit JournalWriter(size_t samples)
      : record_(std::make_unique_for_overwrite<char[]>(samples * kMost + 16)), end_(record_.get()) {
    *end_++ = kShortValues;
  }
  void add(SeriesId id, int64_t t, double v) {  // as often as the constructor was told, at most
    const uint64_t bits = std::bit_cast<uint64_t>(v);
    const int bytes = bits == 0 ? 0 : 8 - std::countr_zero(bits) / 8;
    char* control = end_++;
    *control = static_cast<char>(bytes);
    if (id == last_id_ + 1) {
      *control |= kNextId;
    } else {
      put(zigzag(static_cast<int64_t>(id - last_id_)));
    }
    if (t == last_t_) {
      *control |= kSameTime;
    } else {
      put(zigzag(wrap_sub(t, last_t_)));
    }
    const uint64_t shifted = bytes == 0 ? 0 : bits >> (64 - 8 * bytes);
    std::memcpy(end_, &shifted, 8);  // beyond `bytes` there is room, and what comes next
    end_ += bytes;
    last_id_ = id;
    last_t_ = t;
  }
  std::string_view record() const {
    return {record_.get(), static_cast<size_t>(end_ - record_.get())};
  }

  // First byte of a record with short values; earlier ones began with an even byte.
  static constexpr char kShortValues = 1;
  static constexpr char kNextId = 16, kSameTime = 32, kLength = 15;  // of the control byte

 private:
  static constexpr size_t kMost = 1 + 10 + 10 + 8;  // bytes of a sample
  void put(uint64_t v) {
    for (; v >= 0x80; v >>= 7) *end_++ = static_cast<char>(v | 0x80);
    *end_++ = static_cast<char>(v);
  }
  std::unique_ptr<char[]> record_;
  char* end_;
  SeriesId last_id_ = 0;
  int64_t last_t_ = 0;
};

class JournalReader {
 public:
  explicit JournalReader(std::string_view record)
      : in_(record),
        short_values_(!record.empty() && record.front() == JournalWriter::kShortValues) {
    if (short_values_) in_.byte();
  }
  std::optional<JournalSample> next();  // nullopt: the end, or damaged()
  bool damaged() const { return !in_.ok(); }

 private:
  ByteReader in_;
  bool short_values_;
  SeriesId last_id_ = 0;
  int64_t last_t_ = 0;
};

std::string encode_labels(const Labels& labels);
std::optional<Labels> decode_labels(std::string_view bytes);
std::string encode_metadata(const Metadata& metadata);
std::optional<Metadata> decode_metadata(std::string_view bytes);

}  // namespace vagt::tsdb

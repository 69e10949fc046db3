// One commit as the journal keeps it. docs/formats/journal.md
#pragma once

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

// Writes samples one after the other; ids and times as differences to the sample before.
class JournalWriter {
 public:
  explicit JournalWriter(size_t samples)
      : record_(std::make_unique_for_overwrite<char[]>(samples * kMost)), end_(record_.get()) {}
  void add(SeriesId id, int64_t t, double v) {  // as often as the constructor was told, at most
    put(zigzag(static_cast<int64_t>(id - last_id_)));
    put(zigzag(wrap_sub(t, last_t_)));
    std::memcpy(end_, &v, 8);
    end_ += 8;
    last_id_ = id;
    last_t_ = t;
  }
  std::string_view record() const {
    return {record_.get(), static_cast<size_t>(end_ - record_.get())};
  }

 private:
  static constexpr size_t kMost = 10 + 10 + 8;  // bytes of a sample
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
  explicit JournalReader(std::string_view record) : in_(record) {}
  std::optional<JournalSample> next();  // nullopt: the end, or damaged()
  bool damaged() const { return !in_.ok(); }

 private:
  ByteReader in_;
  SeriesId last_id_ = 0;
  int64_t last_t_ = 0;
};

std::string encode_labels(const Labels& labels);
std::optional<Labels> decode_labels(std::string_view bytes);
std::string encode_metadata(const Metadata& metadata);
std::optional<Metadata> decode_metadata(std::string_view bytes);

}  // namespace vagt::tsdb

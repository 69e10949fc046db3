// One commit as the journal keeps it. docs/formats/journal.md
#pragma once

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
  void reserve(size_t samples) { record_.reserve(16 + samples * 12); }
  void add(SeriesId id, int64_t t, double v);
  const std::string& record() const { return record_; }

 private:
  std::string record_;
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

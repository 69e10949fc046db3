// The byte form of notify's durable records: varints and length-prefixed text behind a version
// byte.
//
//   alert    1 · labels · annotations · starts · ends · updated · timeout · generator_url
//   silence  1 · id · sets of matchers · starts · ends · updated · created_by · comment ·
//   annotations log      1 · firing · resolved · sent · expires · receiver_data group    1 · due ·
//   flushed
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/labels.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::notify {

class RecordWriter {
 public:
  RecordWriter() { number(1); }
  RecordWriter& number(uint64_t v);
  RecordWriter& time(Timestamp t);
  RecordWriter& text(std::string_view s);
  RecordWriter& map(const std::map<std::string, std::string>& m);
  RecordWriter& labels(const Labels& labels);  // as map() writes them
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// After a fault every read gives zero or ""; ask status() once at the end.
class RecordReader {
 public:
  explicit RecordReader(std::string_view in);
  uint64_t number();
  size_t count();  // a number of items to follow, at most what the bytes left can hold
  Timestamp time();
  std::string text();
  std::map<std::string, std::string> map();
  Status status() const;  // Corruption: cut short, left over, or of another version

 private:
  std::string_view in_;
  bool bad_ = false;
};

}  // namespace vagt::notify

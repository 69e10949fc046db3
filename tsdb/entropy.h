// Entropy coding of integers (rANS): what a finished day's residuals cost is close to what they
// tell. Slower to write than pack.h and worth its table only for some hundred values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tsdb/bytes.h"

namespace vagt::tsdb {

// About the bytes that entropy_code() would append.
size_t entropy_size(std::span<const int64_t> values);
// Appends `values`; docs/formats/chunk.md has the layout.
void entropy_code(std::span<const int64_t> values, std::string& out);
// Fills `values`; false: the bytes are damaged.
bool entropy_decode(ByteReader& in, std::span<int64_t> values);

// Decodes piece by piece, and from a point in the middle that an earlier reader passed.
class EntropyReader {
 public:
  struct Point {
    std::array<uint32_t, 2> states{};
    uint32_t word = 0;  // bytes of the rANS words taken in
    uint64_t bit = 0;   // raw bits taken in
  };

  // Reads the head; what `in` has left is copied. False: damaged.
  bool open(ByteReader in);
  const Point& point() const { return point_; }
  // To where `point` was taken, after an even number of integers.
  void seek(const Point& point) { point_ = point; }
  // The next integers; all pieces but the last have an even length. False: damaged.
  bool read(std::span<int64_t> values);
  // True: the last integer was read, and that was to be the last.
  bool at_end() const;
  // Bytes taken since open(), once at the end.
  size_t taken() const { return head_ + words_end_ + (point_.bit + 7) / 8; }

 private:
  int64_t center_ = 0;
  std::vector<uint32_t> table_;  // by the low bits of a state: token, frequency, offset
  std::string bytes_;            // words, then raw bits, then slack for loads beyond the end
  size_t head_ = 0, words_end_ = 0, raw_end_ = 0;
  Point point_;
};

}  // namespace vagt::tsdb

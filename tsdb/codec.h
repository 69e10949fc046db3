// A chunk: a run of samples of one series as bytes. docs/formats/chunk.md has the layout.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vagt::tsdb {

// Milliseconds and values, equally long; the codec's and the head's working form.
struct RawColumns {
  std::vector<int64_t> t;
  std::vector<double> v;
  size_t size() const { return t.size(); }
  void clear() { t.clear(), v.clear(); }
  void reserve(size_t n) { t.reserve(n), v.reserve(n); }
  void push(int64_t at, double value) { t.push_back(at), v.push_back(value); }
};

struct ChunkSpan {
  int64_t first_t = 0, last_t = 0;
  size_t count = 0;
};

enum class TimeCodec : uint8_t { Regular = 0, Exceptions = 1, Deltas = 2 };
enum class ValueCodec : uint8_t {
  Constant = 0,
  RunLength = 1,
  Decimal = 2,
  Xor = 3,
  Raw = 4,
  Entropy = 5,
  Binary = 6
};
enum class Effort : uint8_t {
  Quick,  // open chunks and those just closed
  Small   // finished days: several times the CPU for a tenth less
};

// Appends the chunk of `t` (strictly ascending, not empty) and `v`; each column by whichever codec
// is smallest.
void encode_chunk(std::span<const int64_t> t, std::span<const double> v, std::string& out,
                  Effort effort = Effort::Quick);
// Appends to `out`; false: the bytes are damaged, and `out` is as before.
bool decode_chunk(std::string_view chunk, RawColumns& out);
// A place inside a chunk's values at which a decoder may begin.
struct ChunkMark {
  std::array<uint32_t, 2> states{};
  uint32_t word = 0;
  uint64_t bit = 0;
  std::array<int64_t, 2> sums{};
};
inline constexpr size_t kMarkEvery = 512;  // integers between two marks
using ChunkMarks = std::vector<ChunkMark>;
// Whether marks would let a part of the chunk be decoded alone.
bool takes_marks(std::string_view chunk);
// As decode_chunk(), but only samples in [mint, maxt]. Begins at the last of `marks` (which are of
// this chunk) that is early enough, and adds those it passes.
bool decode_chunk_between(std::string_view chunk, int64_t mint, int64_t maxt, ChunkMarks& marks,
                          RawColumns& out);
// Reads the header only; nullopt: damaged.
std::optional<ChunkSpan> chunk_span(std::string_view chunk);
// Which codecs a chunk uses, for statistics and tests.
TimeCodec time_codec_of(std::string_view chunk);
ValueCodec value_codec_of(std::string_view chunk);

}  // namespace vagt::tsdb

#include "tsdb/codec.h"

#include <algorithm>
#include <cassert>

#include "tsdb/bytes.h"
#include "tsdb/pack.h"
#include "tsdb/value_codec.h"

namespace vagt::tsdb {
namespace {

// A chunk never holds more: a damaged count must not make us allocate the world.
constexpr uint64_t kMaxCount = 1u << 20;

// The delta most of them have, by majority vote; exact when one has more than half.
int64_t majority_delta(std::span<const int64_t> t) {
  int64_t candidate = 0;
  size_t votes = 0;
  for (size_t i = 1; i < t.size(); ++i) {
    const int64_t delta = wrap_sub(t[i], t[i - 1]);
    if (votes == 0) candidate = delta;
    votes = delta == candidate ? votes + 1 : votes - 1;
  }
  return candidate;
}

void encode_exceptions(std::span<const int64_t> t, int64_t step, std::string& out) {
  std::string list;
  uint64_t n = 0;
  size_t last = 0;
  for (size_t i = 1; i < t.size(); ++i) {
    const int64_t delta = wrap_sub(t[i], t[i - 1]);
    if (delta == step) continue;
    put_varint(list, i - last);
    put_zigzag(list, wrap_sub(delta, step));
    last = i;
    ++n;
  }
  put_varint(out, static_cast<uint64_t>(step));
  put_varint(out, n);
  out += list;
}

TimeCodec encode_times(std::span<const int64_t> t, std::string& out) {
  const int64_t step = majority_delta(t);
  size_t exceptions = 0;
  for (size_t i = 1; i < t.size(); ++i) exceptions += wrap_sub(t[i], t[i - 1]) != step;
  if (exceptions == 0) return TimeCodec::Regular;
  std::string listed;
  encode_exceptions(t, step, listed);
  if (exceptions > t.size() / 8) {
    std::vector<int64_t> deltas(t.size() - 1);
    for (size_t i = 1; i < t.size(); ++i) deltas[i - 1] = wrap_sub(t[i], t[i - 1]);
    if (packed_size(deltas) < listed.size()) {
      pack_ints(deltas, out);
      return TimeCodec::Deltas;
    }
  }
  out += listed;
  return TimeCodec::Exceptions;
}

bool decode_exceptions(ByteReader& in, std::span<int64_t> t) {
  const auto step = static_cast<int64_t>(in.varint());
  const uint64_t n = in.varint();
  for (size_t i = 1; i < t.size(); ++i) t[i] = step;
  size_t at = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    at += in.varint();
    if (at == 0 || at >= t.size()) return false;
    t[at] = wrap_add(t[at], in.zigzagged());
  }
  for (size_t i = 1; i < t.size(); ++i) t[i] = wrap_add(t[i], t[i - 1]);
  return in.ok();
}

bool decode_times(TimeCodec codec, ByteReader& in, int64_t last, std::span<int64_t> t) {
  const size_t n = t.size();
  if (codec == TimeCodec::Regular) {
    const int64_t step = n > 1 ? wrap_sub(last, t[0]) / static_cast<int64_t>(n - 1) : 0;
    for (size_t i = 1; i < n; ++i) t[i] = wrap_add(t[i - 1], step);
    return n > 1 || last == t[0];
  }
  if (codec == TimeCodec::Exceptions) return decode_exceptions(in, t) && t[n - 1] == last;
  if (codec != TimeCodec::Deltas || n < 2 || !unpack_ints(in, t.subspan(1))) return false;
  for (size_t i = 1; i < n; ++i) t[i] = wrap_add(t[i], t[i - 1]);
  return t[n - 1] == last;
}

struct Header {
  TimeCodec time;
  ValueCodec value;
  ChunkSpan span;
};

std::optional<Header> read_header(ByteReader& in) {
  const uint8_t tag = in.byte();
  Header header{static_cast<TimeCodec>(tag >> 4), static_cast<ValueCodec>(tag & 15), {}};
  header.span.count = in.varint();
  header.span.first_t = in.zigzagged();
  header.span.last_t =
      static_cast<int64_t>(static_cast<uint64_t>(header.span.first_t) + in.varint());
  if (!in.ok() || header.span.count == 0 || header.span.count > kMaxCount) return std::nullopt;
  return header;
}

}  // namespace

void encode_chunk(std::span<const int64_t> t, std::span<const double> v, std::string& out,
                  Effort effort) {
  assert(!t.empty() && t.size() == v.size());
  const size_t tag_at = out.size();
  out.push_back(0);
  put_varint(out, t.size());
  put_zigzag(out, t.front());
  put_varint(out, static_cast<uint64_t>(t.back()) - static_cast<uint64_t>(t.front()));
  const TimeCodec time = encode_times(t, out);
  const ValueCodec value = encode_values(v, effort, out);
  out[tag_at] = static_cast<char>(static_cast<int>(time) << 4 | static_cast<int>(value));
}

bool decode_chunk(std::string_view chunk, RawColumns& out) {
  ByteReader in(chunk);
  const auto header = read_header(in);
  if (!header) return false;
  const size_t before = out.size(), n = header->span.count;
  out.t.resize(before + n);
  out.v.resize(before + n);
  const std::span<int64_t> t(out.t.data() + before, n);
  t[0] = header->span.first_t;
  const bool good = decode_times(header->time, in, header->span.last_t, t) &&
                    decode_values(header->value, in, {out.v.data() + before, n}) && in.ok();
  if (good) return true;
  out.t.resize(before);
  out.v.resize(before);
  return false;
}

bool takes_marks(std::string_view chunk) {
  ByteReader in(chunk);
  const auto header = read_header(in);
  return header && header->span.count > 2 * kMarkEvery &&
         (header->value == ValueCodec::Entropy || header->value == ValueCodec::Binary);
}

namespace {

struct Part {
  size_t begin, end;
};

// Regular times need no table: the part is worked out, and only its times are made.
std::optional<Part> regular_part(const ChunkSpan& span, int64_t mint, int64_t maxt,
                                 std::vector<int64_t>& out) {
  const auto n = static_cast<int64_t>(span.count);
  const int64_t whole = wrap_sub(span.last_t, span.first_t);
  const int64_t step = n > 1 ? whole / (n - 1) : 1;
  if (whole < 0 || step <= 0 || (n == 1 && whole != 0)) return std::nullopt;
  const auto before = [&](int64_t t) {  // how many samples come before t
    return t <= span.first_t ? int64_t{0}
           : t > span.last_t ? n
                             : std::min(n, (t - span.first_t + step - 1) / step);
  };
  const int64_t begin = before(mint), end = maxt == INT64_MAX ? n : before(maxt + 1);
  for (int64_t i = begin; i < end; ++i) out.push_back(span.first_t + i * step);
  return Part{static_cast<size_t>(begin), static_cast<size_t>(std::max(begin, end))};
}

std::optional<Part> any_part(const Header& header, ByteReader& in, int64_t mint, int64_t maxt,
                             std::vector<int64_t>& out) {
  std::vector<int64_t> t(header.span.count);
  t[0] = header.span.first_t;
  if (!decode_times(header.time, in, header.span.last_t, t)) return std::nullopt;
  const auto begin = std::lower_bound(t.begin(), t.end(), mint);
  const auto end = std::max(begin, std::upper_bound(t.begin(), t.end(), maxt));
  out.insert(out.end(), begin, end);
  return Part{static_cast<size_t>(begin - t.begin()), static_cast<size_t>(end - t.begin())};
}

}  // namespace

bool decode_chunk_between(std::string_view chunk, int64_t mint, int64_t maxt, ChunkMarks& marks,
                          RawColumns& out) {
  ByteReader in(chunk);
  const auto header = read_header(in);
  if (!header) return false;
  const size_t before = out.size();
  const auto part = header->time == TimeCodec::Regular
                        ? regular_part(header->span, mint, maxt, out.t)
                        : any_part(*header, in, mint, maxt, out.t);
  if (!part) return false;
  out.v.resize(out.t.size());
  const std::span<double> v = std::span(out.v).subspan(before);
  if (v.empty() ||
      decode_values_between(header->value, in, header->span.count, part->begin, marks, v))
    return true;
  out.t.resize(before);
  out.v.resize(before);
  return false;
}

std::optional<ChunkSpan> chunk_span(std::string_view chunk) {
  ByteReader in(chunk);
  const auto header = read_header(in);
  if (!header) return std::nullopt;
  return header->span;
}

TimeCodec time_codec_of(std::string_view chunk) {
  return static_cast<TimeCodec>(static_cast<uint8_t>(chunk.at(0)) >> 4);
}
ValueCodec value_codec_of(std::string_view chunk) {
  return static_cast<ValueCodec>(static_cast<uint8_t>(chunk.at(0)) & 15);
}

}  // namespace vagt::tsdb

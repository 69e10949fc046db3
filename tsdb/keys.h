// The keys of every column family. docs/formats/keys.md describes them; the order of the bytes is
// the order of the scans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tsdb/bytes.h"

namespace vagt::tsdb {

using SeriesId = uint64_t;  // names a series on disk, for ever
using Day = int32_t;        // days since 1970, UTC; negative before

inline constexpr int64_t kDayMillis = 86'400'000;
inline Day day_of(int64_t t) {
  return static_cast<Day>((t >= 0 ? t : t - (kDayMillis - 1)) / kDayMillis);
}

inline uint32_t day_bits(Day day) { return static_cast<uint32_t>(day) ^ 0x80000000u; }
inline uint64_t time_bits(int64_t t) { return static_cast<uint64_t>(t) ^ (1ULL << 63); }

// journal: sequence → commit record
inline std::string journal_key(uint64_t sequence) {
  std::string key;
  put_big_endian(key, sequence);
  return key;
}
// head: series id → head record
inline std::string head_key(SeriesId id) { return journal_key(id); }

// series: 'i' id → labels, 'f' fingerprint → ids
inline std::string series_key(SeriesId id) { return "i" + journal_key(id); }
inline std::string fingerprint_key(uint64_t fingerprint) { return "f" + journal_key(fingerprint); }

// chunks: day, series id, first t, order (0: samples that came in order) → chunk
struct ChunkKey {
  Day day = 0;
  SeriesId id = 0;
  int64_t first_t = 0;
  uint64_t order = 0;
};
inline std::string day_key(Day day) {
  std::string key;
  put_big_endian(key, day_bits(day));
  return key;
}
inline std::string chunk_prefix(Day day, SeriesId id) {
  std::string key = day_key(day);
  put_big_endian(key, id);
  return key;
}
inline std::string chunk_key(const ChunkKey& k) {
  std::string key = chunk_prefix(k.day, k.id);
  put_big_endian(key, time_bits(k.first_t));
  if (k.order != 0) put_big_endian(key, k.order);
  return key;
}
inline std::optional<ChunkKey> parse_chunk_key(std::string_view key) {
  ByteReader in(key);
  ChunkKey k;
  k.day = static_cast<Day>(in.big_endian<uint32_t>() ^ 0x80000000u);
  k.id = in.big_endian<uint64_t>();
  k.first_t = static_cast<int64_t>(in.big_endian<uint64_t>() ^ (1ULL << 63));
  if (!in.done()) k.order = in.big_endian<uint64_t>();
  if (!in.ok() || !in.done()) return std::nullopt;
  return k;
}
inline Day parse_day(std::string_view key) {
  return static_cast<Day>(ByteReader(key).big_endian<uint32_t>() ^ 0x80000000u);
}

// postings: day, label name (length first), value → series ids. The empty name lists all of a day.
inline std::string postings_name_prefix(Day day, std::string_view name) {
  std::string key = day_key(day);
  put_big_endian(key, static_cast<uint16_t>(name.size()));
  return key.append(name);
}
inline std::string postings_key(Day day, std::string_view name, std::string_view value) {
  return postings_name_prefix(day, name).append(value);
}

// The smallest key beyond every key that begins with `prefix`; "" when there is none.
inline std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
  return prefix;
}

}  // namespace vagt::tsdb

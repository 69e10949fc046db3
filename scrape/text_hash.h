// A quick 64-bit hash of page text. Not stable across releases; a random seed per process keeps
// exporters from crafting collisions.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace vagt::scrape {

namespace hash_detail {
inline uint64_t load64(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
inline uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
}  // namespace hash_detail

// Folds 16 bytes per multiplication; the last step reads the final 16 bytes again, overlapping.
inline uint64_t text_hash(std::string_view text, uint64_t seed) {
  using hash_detail::load64;
  using hash_detail::mix;
  constexpr uint64_t k1 = 0xa0761d6478bd642fULL, k2 = 0xe7037ed1a0b428dbULL,
                     k3 = 0x8ebc6af09c88c6e3ULL;
  const char* p = text.data();
  size_t left = text.size();
  uint64_t hash = seed ^ k1;
  if (left < 16) {
    char padded[16] = {};
    std::memcpy(padded, p, left);
    return mix(mix(load64(padded) ^ k2, load64(padded + 8) ^ hash) ^ k3, text.size() ^ k1);
  }
  for (; left > 16; p += 16, left -= 16) hash = mix(load64(p) ^ k2, load64(p + 8) ^ hash);
  hash = mix(load64(p + left - 16) ^ k3, load64(p + left - 8) ^ hash);
  return mix(hash ^ k2, text.size() ^ k1);
}

}  // namespace vagt::scrape

// The part of an open chunk that still grows: samples go in eight at a time, and nothing is encoded
// twice. In memory only; what goes to disk is encoded by codec.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tsdb/codec.h"

namespace vagt::tsdb {

inline constexpr size_t kLiveGroup = 8;
using LiveTimes = std::span<const int64_t, kLiveGroup>;
using LiveValues = std::span<const double, kLiveGroup>;

// Its first byte tells a live block from a chunk.
bool is_live_block(std::string_view block);
int live_exponent(std::string_view block);  // of a live block

// Appends a block of eight samples. False, and nothing is appended: they are not decimals at one
// step. `exponent`: decimal places to begin with, as more come cost a new block.
bool live_start(LiveTimes t, LiveValues v, int exponent, std::string& out);
// Appends to `group` what follows `block`, which has `count` samples, and changes the block's head.
// False: they do not fit, nothing is changed.
bool live_extend(std::span<char> block, size_t count, LiveTimes t, LiveValues v,
                 std::string& group);
void live_decode(std::string_view block, RawColumns& out);

}  // namespace vagt::tsdb

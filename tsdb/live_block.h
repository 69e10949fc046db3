// The part of an open chunk that still grows: samples go in six at a time, and nothing is encoded
// twice. docs/formats/head.md has the layout; finished chunks are encoded by codec.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tsdb/codec.h"

namespace vagt::tsdb {

inline constexpr size_t kLiveGroup = 6;
using LiveTimes = std::span<const int64_t, kLiveGroup>;
using LiveValues = std::span<const double, kLiveGroup>;

// Its first byte tells a live block from a chunk.
bool is_live_block(std::string_view block);
int live_exponent(std::string_view block);  // of a live block

// Appends a block of one group. False, and nothing is appended: they are not decimals at one step.
// `exponent`: decimal places to begin with, as more come cost a new block. `base`: the time that
// first_t is told from, here and below.
bool live_start(LiveTimes t, LiveValues v, int exponent, int64_t base, std::string& out);
// Appends to `group` what follows `block`, which has `count` samples, and changes the block's head;
// often that is enough, and nothing follows. False: they do not fit, nothing is changed.
bool live_extend(std::span<char> block, size_t count, LiveTimes t, LiveValues v, int64_t base,
                 std::string& group);
// Appends to `out`; false: the bytes are damaged, and `out` is as before.
bool live_decode(std::string_view block, int64_t base, RawColumns& out);

}  // namespace vagt::tsdb

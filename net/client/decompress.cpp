#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "net/compression.h"
#include "net/url.h"

namespace vagt::net {
namespace {

Status too_large(uint64_t max_bytes) {
  return {Code::LimitExceeded,
          "the inflated body is larger than " + std::to_string(max_bytes) + " bytes"};
}

// Appends a piece unless that would pass the limit.
bool take(std::string& out, const char* piece, size_t size, uint64_t max_bytes) {
  if (max_bytes != 0 && size > max_bytes - out.size()) return false;
  out.append(piece, size);
  return true;
}

constexpr size_t kPieceBytes = 64u << 10;

// window_bits selects the framing: 15 + 32 detects gzip and zlib, -15 is bare deflate.
Result<std::string> inflate_all(std::string_view body, uint64_t max_bytes, int window_bits) {
  z_stream stream{};
  if (inflateInit2(&stream, window_bits) != Z_OK) return Status(Code::Internal, "zlib");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);
  std::string out;
  auto piece = std::make_unique<std::array<char, kPieceBytes>>();
  while (true) {
    if (stream.avail_in == 0) {
      const size_t slice = std::min<size_t>(body.size(), 1u << 30);
      if (slice == 0)
        return Status(Code::Corruption, "the compressed body is cut short: unexpected EOF");
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
      stream.avail_in = static_cast<uInt>(slice);
      body.remove_prefix(slice);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece->data());
    stream.avail_out = static_cast<uInt>(piece->size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (!take(out, piece->data(), piece->size() - stream.avail_out, max_bytes)) {
      return too_large(max_bytes);
    }
    if (code == Z_STREAM_END) {
      if (stream.avail_in == 0 && body.empty()) return out;
      // A gzip file may be several members in a row.
      if (inflateReset(&stream) != Z_OK) return Status(Code::Internal, "zlib");
      continue;
    }
    if (code != Z_OK && code != Z_BUF_ERROR) {
      return Status(Code::Corruption, std::string("the compressed body is damaged: ") +
                                          (stream.msg != nullptr ? stream.msg : "invalid data"));
    }
  }
}

// RFC 9110 means zlib by "deflate"; some servers send the bare stream.
Result<std::string> inflate_deflate(std::string_view body, uint64_t max_bytes) {
  auto framed = inflate_all(body, max_bytes, 15);
  if (framed || framed.error().code() != Code::Corruption) return framed;
  auto bare = inflate_all(body, max_bytes, -15);
  const bool is_bare = bare || bare.error().code() == Code::LimitExceeded;
  return is_bare ? std::move(bare) : std::move(framed);
}

Result<std::string> unzstd(std::string_view body, uint64_t max_bytes) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  if (!stream) return Status(Code::Internal, "zstd: out of memory");
  // A frame may ask for a window of gigabytes; RFC 8878 recommends refusing above 8 MiB.
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 23);
  std::string out;
  auto piece = std::make_unique<std::array<char, kPieceBytes>>();
  ZSTD_inBuffer in{body.data(), body.size(), 0};
  size_t left_in_frame = 1;
  while (in.pos < in.size || left_in_frame != 0) {
    ZSTD_outBuffer produced{piece->data(), piece->size(), 0};
    const size_t before = in.pos;
    left_in_frame = ZSTD_decompressStream(stream.get(), &produced, &in);
    if (ZSTD_isError(left_in_frame) != 0) {
      return Status(Code::Corruption, std::string("the compressed body is damaged: ") +
                                          ZSTD_getErrorName(left_in_frame));
    }
    if (!take(out, piece->data(), produced.pos, max_bytes)) return too_large(max_bytes);
    if (left_in_frame != 0 && in.pos == before && produced.pos == 0) {
      return Status(Code::Corruption, "the compressed body is cut short: unexpected EOF");
    }
  }
  return out;
}

}  // namespace

Result<std::string> decompress(std::string_view body, std::string_view content_encoding,
                               uint64_t max_bytes) {
  if (content_encoding.empty() || equals_ignoring_case(content_encoding, "identity")) {
    if (max_bytes != 0 && body.size() > max_bytes) return too_large(max_bytes);
    return std::string(body);
  }
  if (equals_ignoring_case(content_encoding, "gzip") ||
      equals_ignoring_case(content_encoding, "x-gzip")) {
    return inflate_all(body, max_bytes, 15 + 16);
  }
  if (equals_ignoring_case(content_encoding, "deflate")) return inflate_deflate(body, max_bytes);
  if (equals_ignoring_case(content_encoding, "zstd")) return unzstd(body, max_bytes);
  return Status::invalid("unknown content encoding \"" + std::string(content_encoding) + "\"");
}

}  // namespace vagt::net

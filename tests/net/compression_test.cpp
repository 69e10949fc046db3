#include "net/compression.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>

#include "tests/support/status_matchers.h"

namespace vagt::net {
namespace {

using test::IsOk;
using test::StatusIs;

std::string noise(size_t size) {
  std::mt19937 random(7);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

std::string zstd(const std::string& body, int window_log = 0) {
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                   ZSTD_freeCCtx);
  if (window_log != 0) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log);
  std::string out(ZSTD_compressBound(body.size()), '\0');
  out.resize(ZSTD_compress2(context.get(), out.data(), out.size(), body.data(), body.size()));
  return out;
}

std::string deflate_text(const std::string& body, int window_bits) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, body.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Compression, RoundTrips) {
  for (const std::string& body :
       {std::string(), std::string("x"), std::string(3'000'000, 'a'), noise(1'000'000)}) {
    for (const auto& [packed, encoding] : {std::pair<std::string, const char*>{gzip(body), "gzip"},
                                           {zstd(body), "zstd"},
                                           {deflate_text(body, 15), "deflate"},
                                           {deflate_text(body, -15), "deflate"},
                                           {body, "identity"},
                                           {body, ""}}) {
      const auto back = decompress(packed, encoding, body.size());
      ASSERT_THAT(back, IsOk()) << encoding << " " << body.size();
      EXPECT_TRUE(*back == body) << encoding << " " << body.size();
      EXPECT_THAT(decompress(packed, encoding, 0), IsOk());
      if (body.size() > 1) {
        EXPECT_THAT(decompress(packed, encoding, body.size() - 1), StatusIs(Code::LimitExceeded));
      }
    }
  }
}

TEST(Compression, MembersInARow) {
  const auto both = decompress(gzip("one") + gzip("two"), "gzip", 0);
  ASSERT_THAT(both, IsOk());
  EXPECT_EQ(*both, "onetwo");
}

TEST(Compression, CutAndDamagedStreams) {
  for (const char* encoding : {"gzip", "zstd", "deflate"}) {
    const std::string body = noise(10'000);
    const std::string packed = encoding[0] == 'g'   ? gzip(body)
                               : encoding[0] == 'z' ? zstd(body)
                                                    : deflate_text(body, 15);
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{5}, packed.size() / 2, packed.size() - 1}) {
      EXPECT_THAT(decompress(packed.substr(0, size), encoding, 0), StatusIs(Code::Corruption))
          << encoding << size;
    }
    EXPECT_THAT(decompress("plain text, not packed", encoding, 0), StatusIs(Code::Corruption))
        << encoding;
  }
}

TEST(Compression, BombsStopAtTheLimit) {
  const std::string zeros(30u << 20, '\0');
  EXPECT_THAT(decompress(gzip(zeros), "gzip", 1u << 20),
              StatusIs(Code::LimitExceeded, "larger than 1048576 bytes"));
  EXPECT_THAT(decompress(zstd(zeros), "zstd", 1u << 20), StatusIs(Code::LimitExceeded));
}

TEST(Compression, HugeZstdWindowsAreRefused) {
  const std::string packed = zstd(noise(40u << 20), 26);
  EXPECT_THAT(decompress(packed, "zstd", 0), StatusIs(Code::Corruption));
}

TEST(Compression, UnknownEncoding) {
  EXPECT_THAT(decompress("x", "br", 0),
              StatusIs(Code::InvalidArgument, "unknown content encoding \"br\""));
}

}  // namespace
}  // namespace vagt::net

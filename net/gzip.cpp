#include <zlib.h>

#include "net/compression.h"

namespace vagt::net {

std::string gzip(std::string_view body) {
  constexpr int kGzipFraming = 15 + 16;  // window bits, and zlib's flag for the gzip header
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, kGzipFraming, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  // deflateBound leaves room for everything, so that one call per input slice finishes the job.
  std::string out;
  size_t read = 0;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    if (stream.avail_in == 0 && read < body.size()) {
      const size_t slice = std::min<size_t>(body.size() - read, 1u << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data() + read));
      stream.avail_in = static_cast<uInt>(slice);
      read += slice;
      out.resize(out.size() + deflateBound(&stream, static_cast<uLong>(slice)));
    } else if (stream.avail_out == 0) {
      out.resize(std::max<size_t>(out.size() + 64, stream.total_out + 64));
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + stream.total_out);
    stream.avail_out = static_cast<uInt>(std::min<size_t>(out.size() - stream.total_out, 1u << 30));
    code = deflate(&stream, read == body.size() ? Z_FINISH : Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) break;
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace vagt::net

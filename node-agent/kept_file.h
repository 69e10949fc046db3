// A file of /proc or /sys that is read again and again: it stays open, since looking its path up
// costs more than reading it.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"

namespace vagt::agent {

// One thread. Files elsewhere (recorded hosts) are opened for each reading, as they may be
// replaced.
class KeptFile {
 public:
  explicit KeptFile(std::string path) : path_(std::move(path)) {}
  ~KeptFile();
  KeptFile(KeptFile&& other) noexcept;
  KeptFile& operator=(KeptFile&&) = delete;

  // The whole of it into `out`, which keeps its capacity. Io, NotFound: with path and reason;
  // Io: not a regular file, or larger than kMaxFile (sources.h).
  Status read(std::string& out);
  // First line without surrounding blanks, as a view into `out`; nullopt: unreadable.
  std::optional<std::string_view> line(std::string& out);
  // Decimal number that is all of the file; nullopt: unreadable or something else.
  std::optional<double> number();
  const std::string& path() const { return path_; }

 private:
  bool open_now();
  void close_now();
  // Bytes read at `offset`; -1 with errno. Opens, and opens once more what has gone stale.
  long read_at(char* buffer, size_t size, size_t offset);
  Status failure(int error) const;

  std::string path_;
  int fd_ = -1;
  bool keeps_ = false;
};

}  // namespace vagt::agent

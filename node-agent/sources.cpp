#include "node-agent/sources.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/number_text.h"

namespace vagt::agent {
namespace {

constexpr size_t kMaxNames = 200'000;  // of one directory

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

Status file_error(const std::string& path, int error) {
  const Code code = error == ENOENT || error == ENOTDIR ? Code::NotFound : Code::Io;
  const char* reason = error == EINVAL ? "not a regular file" : std::strerror(error);
  return Status(code, fmt::format("{}: {}", path, reason));
}

}  // namespace

std::string Sources::join(std::string_view root, std::string_view path) {
  std::string out(root);
  while (!out.empty() && out.back() == '/') out.pop_back();
  out += '/';
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  out += path;
  return out;
}

Result<NameFilter> NameFilter::make(const std::string& include, const std::string& exclude) {
  NameFilter filter;
  if (!include.empty()) {
    VAGT_TRY(Regex regex, Regex::compile(include, Regex::Anchor::None));
    filter.include_ = std::make_shared<const Regex>(std::move(regex));
  }
  if (!exclude.empty()) {
    VAGT_TRY(Regex regex, Regex::compile(exclude, Regex::Anchor::None));
    filter.exclude_ = std::make_shared<const Regex>(std::move(regex));
  }
  return filter;
}

bool NameFilter::keeps(std::string_view name) const {
  if (include_ != nullptr && !include_->matches(name)) return false;
  return exclude_ == nullptr || !exclude_->matches(name);
}

int open_regular(const std::string& path) {
  // Without O_NONBLOCK opening a FIFO waits for a writer that may never come.
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -1;
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
  close(fd);
  errno = EINVAL;
  return -1;
}

Status read_file(const std::string& path, std::string& out) {
  out.clear();
  const int fd = open_regular(path);
  if (fd < 0) return file_error(path, errno);
  size_t size = 0;
  int error = 0;
  while (true) {
    out.resize(std::max<size_t>(out.capacity(), size + 4096));
    const ssize_t n = read(fd, out.data() + size, out.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
    size += static_cast<size_t>(n);
    if (size > kMaxFile) {
      error = EFBIG;
      break;
    }
  }
  close(fd);
  if (error == EFBIG) std::string().swap(out);  // gives the memory back, too
  out.resize(error == 0 ? size : 0);
  return error == 0 ? Status() : file_error(path, error);
}

std::optional<std::string> read_line(const std::string& path) {
  std::string text;
  if (!read_file(path, text).ok()) return std::nullopt;
  const std::string_view all = text;
  return std::string(trim(all.substr(0, all.find('\n'))));
}

std::optional<double> read_number(const std::string& path) {
  // One short read without a heap buffer: sysfs collectors do this thousands of times.
  const int fd = open_regular(path);
  if (fd < 0) return std::nullopt;
  char buffer[64];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  close(fd);
  if (n <= 0) return std::nullopt;
  return to_number(trim({buffer, static_cast<size_t>(n)}));
}

std::vector<std::string> list_directory(const std::string& path) {
  std::vector<std::string> names;
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = readdir(dir))
    if (entry->d_name[0] != '.' && names.size() < kMaxNames) names.emplace_back(entry->d_name);
  closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

bool exists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

std::string link_leaf(const std::string& path) {
  char target[4096];
  const ssize_t n = readlink(path.c_str(), target, sizeof target);
  if (n <= 0) return {};
  const std::string_view text(target, static_cast<size_t>(n));
  return std::string(text.substr(text.rfind('/') + 1));
}

bool next_line(std::string_view& rest, std::string_view& line) {
  if (rest.empty()) return false;
  const size_t end = rest.find('\n');
  line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return true;
}

std::string_view next_word(std::string_view& rest) {
  size_t from = 0;
  while (from < rest.size() && is_blank(rest[from])) ++from;
  size_t to = from;
  while (to < rest.size() && !is_blank(rest[to])) ++to;
  const std::string_view word = rest.substr(from, to - from);
  rest.remove_prefix(to);
  return word;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> to_uint(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> to_number(std::string_view text) {
  if (const auto whole = to_uint(text)) return static_cast<double>(*whole);
  return parse_float(text);
}

Result<std::map<std::string, std::string>> read_pairs(const std::string& path) {
  std::string text;
  VAGT_CHECK_OK(read_file(path, text));
  std::map<std::string, std::string> pairs;
  std::string_view rest = text, line;
  while (next_line(rest, line)) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    pairs.insert_or_assign(std::string(line.substr(0, tab)),
                           std::string(trim(line.substr(tab + 1))));
  }
  return pairs;
}

}  // namespace vagt::agent

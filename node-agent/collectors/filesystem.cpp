// Space, inodes and state of the mounted file systems.
#include <cstring>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"
#include "node-agent/mount_prober.h"

namespace vagt::agent {
namespace {

struct Mount {
  std::string device, path, type;
  bool read_only = false;
};

// mountinfo writes blank, tab, newline and backslash as three octal digits.
std::string unescape_octal(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '7';
    };
    if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      out +=
          static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + text[i + 3] - '0');
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool has_option(std::string_view options, std::string_view wanted) {
  while (!options.empty()) {
    const size_t comma = options.find(',');
    if (options.substr(0, comma) == wanted) return true;
    if (comma == std::string_view::npos) return false;
    options.remove_prefix(comma + 1);
  }
  return false;
}

// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue` (proc(5)).
std::optional<Mount> parse_mount(std::string_view line) {
  for (int skip = 0; skip < 4; ++skip) next_word(line);
  Mount mount;
  mount.path = unescape_octal(next_word(line));
  mount.read_only = has_option(next_word(line), "ro");
  while (true) {
    const std::string_view word = next_word(line);
    if (word.empty()) return std::nullopt;
    if (word == "-") break;
  }
  mount.type = next_word(line);
  mount.device = unescape_octal(next_word(line));
  mount.read_only = mount.read_only || has_option(next_word(line), "ro");
  if (mount.path.empty() || mount.type.empty()) return std::nullopt;
  return mount;
}

// These answer statfs from memory, whatever their disk does: no need for another thread. Network
// file systems, FUSE and ZFS (a suspended pool) can hang for ever.
bool answers_from_memory(std::string_view type) {
  for (const std::string_view known : {"ext2", "ext3", "ext4", "xfs", "vfat", "tmpfs"})
    if (type == known) return true;
  return false;
}

class FilesystemCollector final : public Collector {
 public:
  FilesystemCollector(const Sources& sources, const Filters& filters)
      : init_(sources.proc("1/mountinfo")),
        self_(sources.proc("self/mountinfo")),
        rootfs_(sources.rootfs),
        fixture_(sources.fixtures.statfs),
        mount_points_(filters.mount_points),
        types_(filters.filesystem_types),
        patience_(sources.once ? filters.mount_timeout + std::chrono::milliseconds(100)
                               : std::chrono::milliseconds(50)),
        prober_(stat_mount, filters.mount_timeout) {}
  std::string_view name() const override { return "filesystem"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    if (!init_.read(text_).ok() || text_.empty()) VAGT_CHECK_OK(self_.read(text_));
    const std::vector<Mount> mounts = parse_mounts();
    VAGT_TRY(const auto stats, ask(mounts));
    for (size_t i = 0; i < mounts.size(); ++i)
      if (stats[i]) add(sink, mounts[i], *stats[i]);
    return {};
  }

 private:
  // The filters run once for each mount line ever seen.
  std::vector<Mount> parse_mounts() {
    std::vector<Mount> mounts;
    std::map<std::string, std::optional<Mount>, std::less<>> now;
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      auto known = lines_.extract(std::string(line));
      if (known.empty()) {
        auto mount = parse_mount(line);
        if (mount && !(mount_points_.keeps(mount->path) && types_.keeps(mount->type)))
          mount.reset();
        now.emplace(line, std::move(mount));
      } else {
        now.insert(std::move(known));
      }
      if (const auto& mount = now.find(line)->second) mounts.push_back(*mount);
    }
    lines_ = std::move(now);
    // A mount over another hides it: the last one at a path is what statfs sees.
    std::map<std::string_view, size_t> last;
    for (size_t i = 0; i < mounts.size(); ++i) last[mounts[i].path] = i;
    std::vector<Mount> visible;
    for (size_t i = 0; i < mounts.size(); ++i)
      if (last[mounts[i].path] == i) visible.push_back(mounts[i]);
    return visible;
  }

  Result<std::vector<std::optional<MountStats>>> ask(const std::vector<Mount>& mounts) {
    if (fixture_.empty()) return ask_system(mounts);
    VAGT_TRY(const auto recorded, read_mount_fixture(fixture_));
    std::vector<std::optional<MountStats>> out;
    for (const Mount& mount : mounts) {
      const auto found = recorded.find(mount.path);
      out.push_back(found == recorded.end() ? std::nullopt : std::optional(found->second));
    }
    return out;
  }

  std::vector<std::optional<MountStats>> ask_system(const std::vector<Mount>& mounts) {
    std::vector<std::optional<MountStats>> out;
    std::vector<std::string> paths;  // of those that may hang
    for (const Mount& mount : mounts) {
      const std::string path = rootfs_ == "/" ? mount.path : Sources::join(rootfs_, mount.path);
      const bool quick = answers_from_memory(mount.type);
      out.push_back(quick ? std::optional(stat_mount(path)) : std::nullopt);
      if (!quick) paths.push_back(path);
    }
    if (paths.empty()) return out;
    auto answers = prober_.probe(paths, patience_);
    for (size_t i = 0, next = 0; i < mounts.size(); ++i)
      if (!answers_from_memory(mounts[i].type)) out[i] = answers[next++];
    return out;
  }

  static void add(MetricSink& sink, const Mount& mount, const MountStats& stats) {
    const bool failed = stats.timed_out || stats.error != 0;
    const std::string_view error = stats.timed_out    ? "mountpoint timeout"
                                   : stats.error != 0 ? std::strerror(stats.error)
                                                      : "";
    const LabelView labels[] = {{"device", mount.device},
                                {"device_error", error},
                                {"fstype", mount.type},
                                {"mountpoint", mount.path}};
    sink.gauge("node_filesystem_device_error",
               "Whether an error occurred while getting statistics for the given device.")
        .add(labels, failed ? 1 : 0);
    if (failed) return;
    const auto bytes = [&](uint64_t blocks) {
      return static_cast<double>(blocks) * static_cast<double>(stats.block_size);
    };
    sink.gauge("node_filesystem_size_bytes", "Filesystem size in bytes.")
        .add(labels, bytes(stats.blocks));
    sink.gauge("node_filesystem_free_bytes", "Filesystem free space in bytes.")
        .add(labels, bytes(stats.blocks_free));
    sink.gauge("node_filesystem_avail_bytes",
               "Filesystem space available to non-root users in bytes.")
        .add(labels, bytes(stats.blocks_available));
    sink.gauge("node_filesystem_files", "Filesystem total file nodes.")
        .add(labels, static_cast<double>(stats.files));
    sink.gauge("node_filesystem_files_free", "Filesystem total free file nodes.")
        .add(labels, static_cast<double>(stats.files_free));
    sink.gauge("node_filesystem_readonly", "Filesystem read-only status.")
        .add(labels, mount.read_only ? 1 : 0);
  }

  KeptFile init_, self_;
  const std::string rootfs_, fixture_;
  const NameFilter mount_points_, types_;
  const std::chrono::milliseconds patience_;
  MountProber prober_;
  std::string text_;
  std::map<std::string, std::optional<Mount>, std::less<>> lines_;
};

}  // namespace

CollectorPtr make_filesystem(const Sources& sources, const Filters& filters) {
  return std::make_unique<FilesystemCollector>(sources, filters);
}

}  // namespace vagt::agent

// The distribution, from os-release(5).
#include <sys/stat.h>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

// The value of a shell assignment: quotes off, backslash escapes resolved.
std::string unquote(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

class OsCollector final : public Collector {
 public:
  explicit OsCollector(const Sources& sources)
      : paths_{sources.root("etc/os-release"), sources.root("usr/lib/os-release")} {}
  std::string_view name() const override { return "os"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(read_changed());
    auto& v = values_;
    sink.gauge("node_os_info",
               "A metric with a constant '1' value labeled by build_id, id, id_like, image_id, "
               "image_version, name, pretty_name, variant, variant_id, version, version_codename, "
               "version_id.")
        .add({{"build_id", v["BUILD_ID"]},
              {"id", v["ID"]},
              {"id_like", v["ID_LIKE"]},
              {"image_id", v["IMAGE_ID"]},
              {"image_version", v["IMAGE_VERSION"]},
              {"name", v["NAME"]},
              {"pretty_name", v["PRETTY_NAME"]},
              {"variant", v["VARIANT"]},
              {"variant_id", v["VARIANT_ID"]},
              {"version", v["VERSION"]},
              {"version_codename", v["VERSION_CODENAME"]},
              {"version_id", v["VERSION_ID"]}},
             1);
    add_version(sink, v["VERSION"], v["ID"], v["ID_LIKE"], v["NAME"]);
    return {};
  }

 private:
  // Only when the file is another one than last time.
  Status read_changed() {
    struct stat now {};
    const bool first = stat(paths_[0].c_str(), &now) == 0;
    if (!first && stat(paths_[1].c_str(), &now) != 0)
      return Status::not_found("no os-release file");
    if (!values_.empty() && now.st_ino == seen_.st_ino && now.st_size == seen_.st_size &&
        now.st_mtim.tv_sec == seen_.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen_.st_mtim.tv_nsec)
      return {};
    std::string text;
    VAGT_CHECK_OK(read_file(paths_[first ? 0 : 1], text));
    seen_ = now;
    values_.clear();
    std::string_view rest = text, line;
    while (next_line(rest, line)) {
      const size_t equals = line.find('=');
      if (equals == std::string_view::npos || line[0] == '#') continue;
      values_.insert_or_assign(std::string(trim(line.substr(0, equals))),
                               unquote(trim(line.substr(equals + 1))));
    }
    return {};
  }

  // The first `major[.minor]` in VERSION.
  static void add_version(MetricSink& sink, std::string_view version, std::string_view id,
                          std::string_view id_like, std::string_view name) {
    const size_t from = version.find_first_of("0123456789");
    if (from == std::string_view::npos) return;
    size_t to = version.find_first_not_of("0123456789", from);
    if (to != std::string_view::npos && version[to] == '.')
      to = version.find_first_not_of("0123456789", to + 1);
    if (const auto number = to_number(version.substr(from, to - from)))
      sink.gauge("node_os_version", "Metric containing the major.minor part of the OS version.")
          .add({{"id", id}, {"id_like", id_like}, {"name", name}}, *number);
  }

  const std::string paths_[2];
  struct stat seen_ {};
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace

CollectorPtr make_os(const Sources& sources, const Filters&) {
  return std::make_unique<OsCollector>(sources);
}

}  // namespace vagt::agent

// Families that other programs leave in *.prom files.
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "exposition/parse.h"
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

constexpr off_t kMaxBytes = 1 << 20;
constexpr size_t kMaxSamples = 2000;  // of one file

struct ParsedFamily {
  std::string type = "untyped", help;
  std::vector<std::pair<std::string, double>> samples;  // series text and value
};
using ParsedFile = std::map<std::string, ParsedFamily, std::less<>>;

// The family a sample belongs to: `x_bucket` is part of histogram `x`.
ParsedFamily& family_of(ParsedFile& file, std::string_view sample) {
  for (const std::string_view suffix : {"_bucket", "_count", "_sum"}) {
    if (sample.size() <= suffix.size() || sample.substr(sample.size() - suffix.size()) != suffix)
      continue;
    const auto found = file.find(sample.substr(0, sample.size() - suffix.size()));
    if (found != file.end() &&
        (found->second.type == "histogram" || found->second.type == "summary"))
      return found->second;
  }
  return file[std::string(sample)];
}

Result<ParsedFile> parse(std::string_view text, std::set<std::string>& seen) {
  using exposition::EntryKind;
  ParsedFile file;
  size_t samples = 0;
  exposition::Parser parser(text, exposition::Format::Text);
  while (parser.next()) {
    const exposition::Entry& entry = parser.entry();
    if (entry.kind == EntryKind::Help) {
      exposition::unescape(entry.rest, file[std::string(entry.raw_name)].help);
    } else if (entry.kind == EntryKind::Type) {
      const std::string_view type = exposition::metric_type_name(entry.type);
      file[std::string(entry.raw_name)].type = type == "unknown" ? "untyped" : std::string(type);
    } else if (entry.kind == EntryKind::Sample) {
      if (entry.has_timestamp)
        return Status::invalid("timestamps are not allowed: " + std::string(entry.text));
      if (++samples > kMaxSamples) return Status(Code::LimitExceeded, "more than 2000 samples");
      if (!seen.emplace(entry.text).second)
        return Status::invalid("a second time: " + std::string(entry.text));
      family_of(file, entry.raw_name).samples.emplace_back(entry.text, entry.value);
    }
  }
  VAGT_CHECK_OK(parser.status());
  return file;
}

class TextfileCollector final : public Collector {
 public:
  TextfileCollector(const Sources& sources, std::string directory)
      : directory_(std::move(directory)), log_(sources.log.with_component("textfile")) {}
  std::string_view name() const override { return "textfile"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    bool failed = !directory_.empty() && !exists(directory_);
    std::set<std::string> seen;
    std::set<std::string> bad;
    for (const std::string& file :
         directory_.empty() ? std::vector<std::string>() : list_directory(directory_)) {
      if (file.size() < 6 || file.substr(file.size() - 5) != ".prom") continue;
      const std::string path = directory_ + '/' + file;
      const Status status = add_file(sink, path, seen);
      if (status.ok()) continue;
      failed = true;
      bad.insert(path);
      if (!bad_.contains(path)) log_.warn("textfile left out", {{"reason", status.message()}});
    }
    bad_ = std::move(bad);
    sink.gauge("node_textfile_scrape_error",
               "1 if there was an error opening or reading a file, 0 otherwise")
        .add(failed ? 1 : 0);
    return {};
  }

 private:
  Status add_file(MetricSink& sink, const std::string& path, std::set<std::string>& seen) {
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
      return Status::io("not a regular file").at(path);
    // Whoever may write metrics here may raise and silence alarms.
    if (info.st_uid != 0 && info.st_uid != geteuid())
      return Status::invalid("owned by another user").at(path);
    if (info.st_size > kMaxBytes) return Status(Code::LimitExceeded, "larger than 1 MiB").at(path);
    VAGT_CHECK_OK(read_file(path, text_));
    auto parsed = parse(text_, seen).at(path);
    if (!parsed) return std::move(parsed).error();
    for (const auto& [name, family] : *parsed) {
      if (family.samples.empty()) continue;
      Family& target = sink.family(name, family.type, family.help);
      for (const auto& [series, value] : family.samples) target.add_series(series, value);
    }
    sink.gauge("node_textfile_mtime_seconds", "Unixtime mtime of textfiles successfully read.")
        .add({{"file", path}}, static_cast<double>(info.st_mtim.tv_sec));
    return {};
  }

  const std::string directory_;
  const base::Logger log_;
  std::string text_;
  std::set<std::string> bad_;  // files already complained about
};

}  // namespace

CollectorPtr make_textfile(const Sources& sources, const Filters& filters) {
  return std::make_unique<TextfileCollector>(sources, filters.textfile_directory);
}

}  // namespace vagt::agent

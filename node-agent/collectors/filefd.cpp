// File handles of the whole system.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class FilefdCollector final : public Collector {
 public:
  explicit FilefdCollector(const Sources& sources) : file_(sources.proc("sys/fs/file-nr")) {}
  std::string_view name() const override { return "filefd"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::string_view rest = text_;
    const auto allocated = to_number(next_word(rest));
    next_word(rest);  // free handles: always 0 since Linux 2.6
    const auto maximum = to_number(next_word(rest));
    if (!allocated || !maximum)
      return Status(Code::Corruption, file_.path() + ": no three numbers");
    sink.gauge("node_filefd_allocated", "File descriptor statistics: allocated.").add(*allocated);
    sink.gauge("node_filefd_maximum", "File descriptor statistics: maximum.").add(*maximum);
    return {};
  }

 private:
  KeptFile file_;
  std::string text_;
};

}  // namespace

CollectorPtr make_filefd(const Sources& sources, const Filters&) {
  return std::make_unique<FilefdCollector>(sources);
}

}  // namespace vagt::agent

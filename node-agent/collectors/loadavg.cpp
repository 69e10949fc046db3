// The three load averages.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class LoadavgCollector final : public Collector {
 public:
  explicit LoadavgCollector(const Sources& sources) : file_(sources.proc("loadavg")) {}
  std::string_view name() const override { return "loadavg"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::string_view rest = text_;
    const auto one = to_number(next_word(rest)), five = to_number(next_word(rest)),
               fifteen = to_number(next_word(rest));
    if (!one || !five || !fifteen)
      return Status(Code::Corruption, file_.path() + ": no three numbers");
    sink.gauge("node_load1", "1m load average.").add(*one);
    sink.gauge("node_load5", "5m load average.").add(*five);
    sink.gauge("node_load15", "15m load average.").add(*fifteen);
    return {};
  }

 private:
  KeptFile file_;
  std::string text_;
};

}  // namespace

CollectorPtr make_loadavg(const Sources& sources, const Filters&) {
  return std::make_unique<LoadavgCollector>(sources);
}

}  // namespace vagt::agent

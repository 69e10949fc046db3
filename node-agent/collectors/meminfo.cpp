// Every line of /proc/meminfo: `Active(anon): 3 kB` is node_memory_Active_anon_bytes.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class MeminfoCollector final : public Collector {
 public:
  explicit MeminfoCollector(const Sources& sources) : file_(sources.proc("meminfo")) {}
  std::string_view name() const override { return "meminfo"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(file_.read(text_));
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos) continue;
      std::string_view value = line.substr(colon + 1);
      const auto number = to_number(next_word(value));
      if (!number) continue;
      const bool kilobytes = trim(value) == "kB";
      set_name(line.substr(0, colon), kilobytes);
      sink.gauge(name_, help_).add(kilobytes ? *number * 1024 : *number);
    }
    return {};
  }

 private:
  void set_name(std::string_view field, bool bytes) {
    constexpr std::string_view kPrefix = "node_memory_";
    name_ = kPrefix;
    for (const char c : field)
      if (c == '(') {
        name_ += '_';
      } else if (c != ')') {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name_ += plain ? c : '_';
      }
    if (bytes) name_ += "_bytes";
    help_ = "Memory information field ";
    help_ += std::string_view(name_).substr(kPrefix.size());
    help_ += '.';
  }

  KeptFile file_;
  std::string text_, name_, help_;
};

}  // namespace

CollectorPtr make_meminfo(const Sources& sources, const Filters&) {
  return std::make_unique<MeminfoCollector>(sources);
}

}  // namespace vagt::agent

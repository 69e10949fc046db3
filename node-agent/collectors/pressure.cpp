// Pressure stall information.
#include <array>

#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

struct Stall {
  std::string_view resource, line, name, help;
};
constexpr std::array<Stall, 6> kStalls = {{
    {"cpu", "some", "node_pressure_cpu_waiting_seconds_total",
     "Total time in seconds that processes have waited for CPU time"},
    {"io", "full", "node_pressure_io_stalled_seconds_total",
     "Total time in seconds no process could make progress due to IO congestion"},
    {"io", "some", "node_pressure_io_waiting_seconds_total",
     "Total time in seconds that processes have waited due to IO congestion"},
    {"irq", "full", "node_pressure_irq_stalled_seconds_total",
     "Total time in seconds no process could make progress due to IRQ congestion"},
    {"memory", "full", "node_pressure_memory_stalled_seconds_total",
     "Total time in seconds no process could make progress due to memory congestion"},
    {"memory", "some", "node_pressure_memory_waiting_seconds_total",
     "Total time in seconds that processes have waited for memory"},
}};

class PressureCollector final : public Collector {
 public:
  explicit PressureCollector(const Sources& sources) {
    for (const Stall& stall : kStalls)
      files_.try_emplace(stall.resource, sources.proc("pressure/" + std::string(stall.resource)));
  }
  std::string_view name() const override { return "pressure"; }

  // A file may be missing (irq before 6.1) or refuse to be read (psi=0): no data, not a failure.
  Status collect(MetricSink& sink, std::stop_token) override {
    std::string_view read;
    for (const Stall& stall : kStalls) {
      if (stall.resource != read) {
        read = stall.resource;
        if (!files_.find(read)->second.read(text_).ok()) text_.clear();
      }
      if (const auto microseconds = total(stall.line))
        sink.counter(stall.name, stall.help).add(*microseconds / 1e6);
    }
    return {};
  }

 private:
  // `some avg10=0.10 avg60=2.00 avg300=3.85 total=15`
  std::optional<double> total(std::string_view wanted) const {
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      if (next_word(line) != wanted) continue;
      for (auto word = next_word(line); !word.empty(); word = next_word(line))
        if (word.substr(0, 6) == "total=") return to_number(word.substr(6));
    }
    return std::nullopt;
  }

  std::map<std::string_view, KeptFile> files_;
  std::string text_;
};

}  // namespace

CollectorPtr make_pressure(const Sources& sources, const Filters&) {
  return std::make_unique<PressureCollector>(sources);
}

}  // namespace vagt::agent

// Interrupts by line and CPU. Off by default: lines times CPUs are very many series.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class InterruptsCollector final : public Collector {
 public:
  explicit InterruptsCollector(const Sources& sources) : path_(sources.proc("interrupts")) {}
  std::string_view name() const override { return "interrupts"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    VAGT_CHECK_OK(read_file(path_, text_));
    std::string_view rest = text_, line;
    next_line(rest, line);
    std::vector<std::string_view> cpus;
    for (auto word = next_word(line); word.substr(0, 3) == "CPU"; word = next_word(line))
      cpus.push_back(word.substr(3));
    if (cpus.empty()) return Status(Code::Corruption, path_ + ": no CPU in the first line");
    Family& family = sink.counter("node_interrupts_total", "Interrupt details.");
    while (next_line(rest, line)) add_line(family, line, cpus);
    return {};
  }

 private:
  static void add_line(Family& family, std::string_view line,
                       const std::vector<std::string_view>& cpus) {
    std::string_view type = next_word(line);
    if (type.empty()) return;
    type.remove_suffix(1);
    std::vector<double> counts;
    while (counts.size() < cpus.size()) {
      const auto count = to_number(next_word(line));
      if (!count) return;  // ERR and MIS have one number for all CPUs
      counts.push_back(*count);
    }
    // A numbered line names its controller and the devices on it; the others only say what they
    // are.
    std::string info, devices;
    const bool numbered = to_uint(type).has_value();
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
      std::string& target = numbered && !info.empty() ? devices : info;
      if (!target.empty()) target += ' ';
      target += word;
    }
    if (info.empty()) return;
    for (size_t i = 0; i < cpus.size(); ++i)
      family.add({{"cpu", cpus[i]}, {"devices", devices}, {"info", info}, {"type", type}},
                 counts[i]);
  }

  const std::string path_;
  std::string text_;
};

}  // namespace

CollectorPtr make_interrupts(const Sources& sources, const Filters&) {
  return std::make_unique<InterruptsCollector>(sources);
}

}  // namespace vagt::agent

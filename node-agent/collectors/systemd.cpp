// Units by state, failed units by name, restarts, socket connections: as systemctl prints them.
#include <algorithm>

#include "node-agent/collectors/collectors.h"
#include "node-agent/command.h"

namespace vagt::agent {
namespace {

constexpr std::chrono::seconds kDeadline{10};
constexpr std::string_view kStates[] = {"activating", "active", "deactivating", "failed",
                                        "inactive"};
constexpr size_t kMaxUnits = 20'000;

std::string_view suffix_of(std::string_view unit) {
  const size_t dot = unit.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : unit.substr(dot + 1);
}

class SystemdCollector final : public Collector {
 public:
  SystemdCollector(const Sources& sources, const Filters& filters)
      : running_(sources.root("run/systemd/system")),
        systemctl_(filters.systemctl),
        units_(filters.systemd_units) {}
  std::string_view name() const override { return "systemd"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    // sd_booted(3): this directory is there when systemd is the init.
    if (!exists(running_)) return Status::not_found("systemd does not run here");
    VAGT_TRY(const std::string list,
             ask({"list-units", "--all", "--no-legend", "--plain", "--no-pager"}, stop));
    add_units(sink, list);
    VAGT_TRY(
        const std::string sockets,
        ask({"show", "--no-pager", "-p", "Id,NAccepted,NConnections,NRefused", "*.socket"}, stop));
    add_sockets(sink, sockets);
    VAGT_TRY(const std::string services,
             ask({"show", "--no-pager", "-p", "Id,NRestarts", "*.service"}, stop));
    add_services(sink, services);
    if (cpu_seconds_ > 0)
      sink.counter("vagt_external_command_seconds_total", "CPU time of the programs we run.")
          .add({{"command", "systemctl"}}, cpu_seconds_);
    return {};
  }

 private:
  Result<std::string> ask(std::vector<std::string> words, const std::stop_token& stop) {
    std::vector<std::string> argv = {systemctl_};
    argv.insert(argv.end(), words.begin(), words.end());
    VAGT_TRY(CommandOutput output, run_command(argv, kDeadline, stop, slot_));
    cpu_seconds_ += output.cpu_seconds;
    if (output.exit_code != 0)
      return Status(Code::Unavailable,
                    "systemctl " + words[0] + " exited with " + std::to_string(output.exit_code));
    return std::move(output.out);
  }

  // `ssh.service loaded active running OpenBSD Secure Shell server`
  void add_units(MetricSink& sink, std::string_view list) {
    std::map<std::string_view, double> counts;
    for (const std::string_view state : kStates) counts[state] = 0;
    std::string_view line;
    size_t units = 0;
    while (next_line(list, line) && units++ < kMaxUnits) {
      const std::string_view unit = next_word(line);
      next_word(line);  // loaded, not-found, masked
      const std::string_view state = next_word(line);
      if (!counts.contains(state)) continue;
      ++counts[state];
      const bool shown = state == "failed" || (has_filter() && units_.keeps(unit));
      if (shown) add_state(sink, unit, state);
    }
    Family& family = sink.gauge("node_systemd_units", "Summary of systemd unit states");
    for (const auto& [state, count] : counts) family.add({{"state", state}}, count);
  }

  // Five series for each unit: on request only, but for those that failed.
  bool has_filter() const { return !units_.is_empty(); }

  static void add_state(MetricSink& sink, std::string_view unit, std::string_view state) {
    Family& family = sink.gauge("node_systemd_unit_state", "Systemd unit");
    for (const std::string_view known : kStates)
      family.add({{"name", unit}, {"state", known}, {"type", suffix_of(unit)}},
                 state == known ? 1 : 0);
  }

  // Blocks of KEY=value, a blank line between units.
  template <class Take>
  static void each_unit(std::string_view text, Take take) {
    std::map<std::string_view, std::string_view> values;
    std::string_view line;
    while (next_line(text, line)) {
      const size_t equals = line.find('=');
      if (equals != std::string_view::npos)
        values[line.substr(0, equals)] = line.substr(equals + 1);
      if (!line.empty()) continue;
      take(values);
      values.clear();
    }
    take(values);
  }

  static void add_sockets(MetricSink& sink, std::string_view text) {
    each_unit(text, [&sink](std::map<std::string_view, std::string_view>& values) {
      const LabelView label[] = {{"name", values["Id"]}};
      if (values["Id"].empty()) return;
      if (const auto n = to_uint(values["NAccepted"]))
        sink.counter("node_systemd_socket_accepted_connections_total",
                     "Total number of accepted socket connections")
            .add(label, static_cast<double>(*n));
      if (const auto n = to_uint(values["NConnections"]))
        sink.gauge("node_systemd_socket_current_connections",
                   "Current number of socket connections")
            .add(label, static_cast<double>(*n));
      if (const auto n = to_uint(values["NRefused"]))
        sink.gauge("node_systemd_socket_refused_connections_total",
                   "Total number of refused socket connections")
            .add(label, static_cast<double>(*n));
    });
  }

  static void add_services(MetricSink& sink, std::string_view text) {
    each_unit(text, [&sink](std::map<std::string_view, std::string_view>& values) {
      const auto restarts = to_uint(values["NRestarts"]);
      if (restarts && !values["Id"].empty())
        sink.counter("node_systemd_service_restart_total", "Service unit count of Restart triggers")
            .add({{"name", values["Id"]}}, static_cast<double>(*restarts));
    });
  }

  const std::string running_, systemctl_;
  const NameFilter units_;
  std::shared_ptr<CommandSlot> slot_ = std::make_shared<CommandSlot>();
  double cpu_seconds_ = 0;
};

}  // namespace

CollectorPtr make_systemd(const Sources& sources, const Filters& filters) {
  return std::make_unique<SystemdCollector>(sources, filters);
}

}  // namespace vagt::agent

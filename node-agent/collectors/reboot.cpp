// How the last boot ended and whether a reboot is planned.
#include <unistd.h>

#include "node-agent/collectors/collectors.h"
#include "node-agent/reboot/marker.h"
#include "node-agent/state_file.h"

namespace vagt::agent {
namespace {

constexpr Duration kSaveEvery = std::chrono::seconds(60);

class RebootCollector final : public Collector {
 public:
  explicit RebootCollector(const Sources& sources)
      : marker_path_(marker_path(sources.state_dir)),
        state_path_(Sources::join(sources.state_dir, "state.json")),
        boot_id_(read_line(sources.proc("sys/kernel/random/boot_id")).value_or(std::string())),
        pstore_(sources.sys("fs/pstore")),
        read_only_(sources.once),
        state_health_(sources.state),
        log_(sources.log.with_component("state")),
        clock_(*sources.clock) {}
  // The agent is stopped in order: so is the boot, unless it starts again.
  ~RebootCollector() override {
    if (begun_) save(true);
  }
  std::string_view name() const override { return "reboot"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    begin();
    sink.gauge("vagt_boot_id_info", "Id of this boot; the value is 1.")
        .add({{"boot_id", boot_id_}}, 1);
    if (state_.last_boot_known)
      sink.gauge("vagt_last_boot_clean", "0: the boot before ended in a crash or a power loss.")
          .add(state_.last_boot_clean ? 1 : 0);
    sink.gauge("vagt_planned_reboot", "1: the reboot into this boot was announced.")
        .add(state_.planned ? 1 : 0);
    if (state_.planned)
      sink.gauge("vagt_planned_reboot_info", "Who announced it and why; the value is 1.")
          .add({{"by", state_.by}, {"reason", state_.reason}}, 1);
    if (const auto pending = pending_until())
      sink.gauge("vagt_planned_reboot_pending_until_seconds",
                 "A reboot is announced until this time.")
          .add(to_seconds(*pending));
    if (exists(pstore_))
      sink.gauge("vagt_pstore_records", "Kernel crash dumps that wait to be read.")
          .add(static_cast<double>(list_directory(pstore_).size()));
    if (clock_.now() - saved_ >= kSaveEvery) save(false);
    return {};
  }

 private:
  void begin() {
    if (begun_) return;
    std::string text;
    std::optional<BootState> before;
    if (read_file(state_path_, text).ok())
      if (auto parsed = parse_boot_state(text)) before = std::move(parsed).value();
    const auto marker = read_marker();
    state_ = begin_boot(boot_id_, before, marker, clock_.now());
    // Used up by this boot; one that announces this boot's own end stays.
    if (!read_only_ && marker && marker->boot_id != boot_id_) unlink(marker_path_.c_str());
    begun_ = true;
  }

  std::optional<RebootMarker> read_marker() const {
    std::string text;
    if (!read_file(marker_path_, text).ok()) return std::nullopt;
    auto marker = parse_marker(text);
    return marker ? std::optional(std::move(marker).value()) : std::nullopt;
  }

  std::optional<Timestamp> pending_until() const {
    const auto marker = read_marker();
    if (!marker || marker->boot_id != boot_id_ || marker->expires_at < clock_.now())
      return std::nullopt;
    return marker->expires_at;
  }

  void save(bool clean) {
    saved_ = clock_.now();
    if (read_only_) return;
    state_.last_alive = saved_;
    state_.clean_shutdown = clean;
    state_health_->note(save_state(state_path_, print_boot_state(state_)), log_);
  }

  const std::string marker_path_, state_path_, boot_id_, pstore_;
  const bool read_only_;
  const std::shared_ptr<StateHealth> state_health_;
  const base::Logger log_;
  const Clock& clock_;
  BootState state_;
  Timestamp saved_{};
  bool begun_ = false;
};

}  // namespace

CollectorPtr make_reboot(const Sources& sources, const Filters&) {
  return std::make_unique<RebootCollector>(sources);
}

}  // namespace vagt::agent

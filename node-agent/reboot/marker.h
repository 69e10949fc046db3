// A planned reboot: a one-shot marker that the agent of the next boot finds.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/time.h"

namespace vagt::agent {

struct RebootMarker {
  Timestamp expires_at{};
  std::string reason, by, boot_id;  // boot_id: of the boot that shall end
};

// `reboot-expected` in the state directory. InvalidArgument: not such a document.
Result<RebootMarker> parse_marker(std::string_view json);
std::string print_marker(const RebootMarker& marker);
std::string marker_path(const std::string& state_dir);

// What the agent notes of its boot, so that the next one can tell how it ended.
struct BootState {
  std::string boot_id;
  Timestamp last_alive{};
  bool clean_shutdown = false;
  // Decided when this boot's first agent started, and kept over its restarts.
  bool decided = false, planned = false, last_boot_clean = false, last_boot_known = false;
  std::string reason, by;
};
Result<BootState> parse_boot_state(std::string_view json);
std::string print_boot_state(const BootState& state);

// The state of a boot that begins: `before` is what the last agent left, if anything.
BootState begin_boot(const std::string& boot_id, const std::optional<BootState>& before,
                     const std::optional<RebootMarker>& marker, Timestamp now);

}  // namespace vagt::agent

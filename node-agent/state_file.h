// Small state that outlives the agent: written beside and renamed, so that a crash leaves the old.
#pragma once

#include <string>

#include "base/status.h"

namespace vagt::agent {

// The text after the first line when that line is `boot_id`; "" when there is none or it is of
// another boot.
std::string load_boot_state(const std::string& path, const std::string& boot_id);
// Io: the directory is missing or full; what was there before stays.
Status save_state(const std::string& path, const std::string& text);
// The same, with `boot_id` as the first line.
Status save_boot_state(const std::string& path, const std::string& boot_id,
                       const std::string& text);

}  // namespace vagt::agent

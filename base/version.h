// What the programs say of themselves.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace vagt {

inline constexpr std::string_view kVersion = VAGT_VERSION;

inline std::string version_text(std::string_view program) {
  return fmt::format("{} {}", program, kVersion);
}

}  // namespace vagt

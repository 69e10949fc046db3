// How long the property tests run.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace vagt::query {

// `usual` seeds, always the same ones; VAGT_PROPERTY_SEEDS=100000 for a long run.
inline uint32_t property_seeds(uint32_t usual) {
  const char* asked = std::getenv("VAGT_PROPERTY_SEEDS");
  return asked == nullptr ? usual : static_cast<uint32_t>(std::strtoul(asked, nullptr, 10));
}

}  // namespace vagt::query

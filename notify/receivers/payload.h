// Small helpers that the JSON receivers share.
#pragma once

#include <string>
#include <string_view>

#include "base/json_writer.h"

namespace vagt::notify {

// Writes a member unless the text is empty: Go's omitempty.
inline void member_if(base::JsonWriter& w, std::string_view name, std::string_view text) {
  if (!text.empty()) w.key(name).string(text);
}
inline void member(base::JsonWriter& w, std::string_view name, std::string_view text) {
  w.key(name).string(text);
}

}  // namespace vagt::notify

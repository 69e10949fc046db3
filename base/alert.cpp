#include "base/alert.h"

namespace vagt {

std::string_view alert_state_name(AlertState state) {
  switch (state) {
    case AlertState::Inactive:
      return "inactive";
    case AlertState::Pending:
      return "pending";
    case AlertState::Firing:
      return "firing";
  }
  return "unknown";
}

}  // namespace vagt

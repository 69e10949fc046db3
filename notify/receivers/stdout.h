// Prints pages to the terminal: for trying things out.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "net/http_client.h"
#include "notify/notifier.h"

namespace vagt::notify {

struct StdoutConfig {
  bool send_resolved = true;
  std::string text = R"({{ template "stdout.default.text" . }})";
};
std::unique_ptr<Notifier> make_stdout_notifier(const StdoutConfig& config);

}  // namespace vagt::notify

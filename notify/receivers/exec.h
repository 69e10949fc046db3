// A local command, off unless a flag allows it: JSON on its standard input, facts in its
// environment.
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

struct ExecConfig {
  bool send_resolved = true;
  std::vector<std::string> command;  // the program and its arguments, which are templates
  Duration timeout = std::chrono::seconds(30);
};
std::unique_ptr<Notifier> make_exec_notifier(const ExecConfig& config);

}  // namespace vagt::notify

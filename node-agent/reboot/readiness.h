// Whether the GPU driver will be there after the next reboot: files only, nothing is run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node-agent/sources.h"

namespace vagt::agent {

struct ReadinessCheck {
  std::string name;
  bool ok = false;
  std::string found, fix;  // in words: what is the matter, and the command that mends it
};

struct InstalledModule {
  std::string kernel, version;  // version "" where it is not known
  bool loaded = false;
  std::optional<bool> is_signed;  // nullopt: compressed, or unreadable
};

struct Readiness {
  std::string running, newest;  // kernel releases; newest "": none is installed
  std::string next;             // the one the boot loader will start
  bool flag_required = false, nouveau_loaded = false;
  std::optional<bool> secure_boot, persistenced_up, fabricmanager_up;
  std::vector<InstalledModule> modules;
  std::vector<ReadinessCheck> checks;  // only those that can be told
};

Readiness check_readiness(const Sources& sources);
// "6.8.0-9" < "6.8.0-64": numbers by value.
bool version_less(std::string_view a, std::string_view b);
// `vagt-agent doctor`: every check in words. True: nothing is wrong.
bool print_readiness(const Readiness& readiness, std::string& out);

}  // namespace vagt::agent

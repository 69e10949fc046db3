// vagtctl rules replay: rules run over a server's stored history.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct ReplayRules {
  std::vector<std::string> files;  // none: the server's own rules
  std::string url = "http://localhost:9090";
  std::string from = "-30d", to;    // "-30d" counts back from `to`; to "" is now
  std::string against;              // "running", a file, or "" for none
  std::string interval;             // of groups without one; "" is the server's
  std::string alertmanager_config;  // who is told; "" asks nobody
  std::string silences_file;        // as `silence query -o json` prints them
  std::string format = "table";     // table, score, json
  std::string name = "replay";      // of the score's one incident
  std::string timeout = "30m";
  std::string export_file;   // a unit test of one alert is written there
  std::string export_alert;  // its name; "": the first that fired
};
int replay_rules(Context& context, const ReplayRules& options);

}  // namespace vagt::cli

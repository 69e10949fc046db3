// What is known of a physical link beyond its present state: the most it ever had, and its
// neighbour.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "node-agent/sources.h"

namespace vagt::agent {

// The highest speed of each interface since boot; outlives the agent in the state directory.
class LinkHistory {
 public:
  explicit LinkHistory(const Sources& sources);
  // Takes the speed (bytes per second; not above 0: unknown) and gives the highest; 0: none yet.
  double see(const std::string& device, double speed);
  // Writes what changed.
  void keep();

 private:
  const std::string path_, boot_id_;
  const std::shared_ptr<StateHealth> state_;
  const base::Logger log_;
  std::map<std::string, double> seen_;
  bool changed_ = false;
};

struct LldpNeighbour {
  std::string device, chassis, port, description;
};
// `lldpctl -f keyvalue`: lines like `lldp.eth0.chassis.name=leaf1`. The first neighbour of each
// interface, 256 interfaces at most, texts cut to 128 bytes.
std::vector<LldpNeighbour> parse_lldp(std::string_view text);

}  // namespace vagt::agent

// The collectors there are.
#pragma once

#include <span>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {

struct CollectorKind {
  std::string_view name;
  MakeCollector* make;
  bool on_by_default;
  // Zero: runs inside each scrape. Else: in a thread of its own, at this cadence.
  Duration cadence{};
  // A run longer than this counts as failed; its thread goes on until the call returns.
  Duration deadline = std::chrono::seconds(5);
};

std::span<const CollectorKind> collector_kinds();
const CollectorKind* find_collector(std::string_view name);  // null: no such

}  // namespace vagt::agent

// Puts the families of several collectors together into one page.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node-agent/collector.h"

namespace vagt::agent {

// Families in name order; one that several sinks have is written once, with all its samples. Null
// sinks are skipped. `size_hint` in bytes.
std::string render_page(const std::vector<std::shared_ptr<const MetricSink>>& sinks,
                        bool open_metrics, size_t size_hint);

}  // namespace vagt::agent

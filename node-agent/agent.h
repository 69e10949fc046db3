// The collectors that are switched on, and the page made of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node-agent/collector_runner.h"
#include "node-agent/options.h"
#include "node-agent/self_metrics.h"

namespace vagt::agent {

// `collect[]` and `exclude[]` of a scrape; both empty: everything.
struct Selection {
  std::vector<std::string> collect, exclude;
};

enum class PageFormat : uint8_t { Text, OpenMetrics };

class Agent {
 public:
  // `options.sources.clock` outlives the agent. InvalidArgument: names an unknown collector.
  static Result<std::unique_ptr<Agent>> make(const Options& options);

  // Begins the background collectors.
  void start();
  // InvalidArgument: the selection names a collector that is unknown or off. One thread at a time.
  Result<std::string> page(const Selection& selection, PageFormat format);
  // Runs every collector once, waits for each up to its deadline, and gives the page.
  std::string collect_once();
  // Counts an HTTP answer; any thread.
  void count_request(int status) { self_.count_request(status); }
  std::vector<std::string_view> collectors() const;

 private:
  explicit Agent(const Options& options);
  std::string render(const std::vector<CollectorRunner*>& runners,
                     std::vector<std::shared_ptr<const MetricSink>> sinks, bool whole,
                     PageFormat format);

  SelfMetrics self_;
  std::vector<std::unique_ptr<CollectorRunner>> runners_;
  size_t last_page_bytes_ = 0;
};

}  // namespace vagt::agent

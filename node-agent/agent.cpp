#include "node-agent/agent.h"

#include <fmt/core.h>

#include <algorithm>

#include "node-agent/page.h"

namespace vagt::agent {

Agent::Agent(const Options& options) : self_(options) {}

Result<std::unique_ptr<Agent>> Agent::make(const Options& options) {
  std::unique_ptr<Agent> agent(new Agent(options));
  for (const std::string& name : options.collectors) {
    const CollectorKind* kind = find_collector(name);
    if (kind == nullptr) return Status::invalid("no such collector: " + name);
    CollectorRunner::Limits limits;
    limits.max_samples = options.max_samples_per_collector;
    agent->runners_.push_back(std::make_unique<CollectorRunner>(
        *kind, kind->make(options.sources, options.filters), *options.sources.clock,
        options.sources.log.with_component("agent"), limits));
  }
  return agent;
}

void Agent::start() {
  for (const auto& runner : runners_) runner->start();
}

std::vector<std::string_view> Agent::collectors() const {
  std::vector<std::string_view> names;
  for (const auto& runner : runners_) names.push_back(runner->name());
  return names;
}

Result<std::string> Agent::page(const Selection& selection, PageFormat format) {
  if (!selection.collect.empty() && !selection.exclude.empty())
    return Status::invalid("Combined collect and exclude queries are not allowed.");
  const auto listed = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto names = collectors();
  for (const auto* wanted : {&selection.collect, &selection.exclude})
    for (const std::string& name : *wanted) {
      if (find_collector(name) == nullptr) return Status::invalid("missing collector: " + name);
      if (std::find(names.begin(), names.end(), name) == names.end())
        return Status::invalid("disabled collector: " + name);
    }
  std::vector<CollectorRunner*> chosen;
  std::vector<std::shared_ptr<const MetricSink>> sinks;
  for (const auto& runner : runners_) {
    if (!selection.collect.empty() && !listed(selection.collect, runner->name())) continue;
    if (listed(selection.exclude, runner->name())) continue;
    chosen.push_back(runner.get());
    sinks.push_back(runner->samples());
  }
  return render(chosen, std::move(sinks), chosen.size() == runners_.size(), format);
}

std::string Agent::collect_once() {
  std::vector<CollectorRunner*> chosen;
  std::vector<std::shared_ptr<const MetricSink>> sinks;
  for (const auto& runner : runners_) {
    chosen.push_back(runner.get());
    sinks.push_back(runner->run_once());
  }
  return render(chosen, std::move(sinks), true, PageFormat::Text);
}

std::string Agent::render(const std::vector<CollectorRunner*>& runners,
                          std::vector<std::shared_ptr<const MetricSink>> sinks, bool whole,
                          PageFormat format) {
  size_t samples = 0;
  for (const auto& sink : sinks)
    if (sink != nullptr) samples += sink->samples();
  sinks.push_back(self_.collect(runners, samples, last_page_bytes_, whole));
  std::string page = render_page(sinks, format == PageFormat::OpenMetrics, last_page_bytes_);
  if (whole) last_page_bytes_ = page.size();
  return page;
}

}  // namespace vagt::agent

#include "scrape/discovery/target_directory.h"

#include <fmt/core.h>

#include "scrape/discovery/listed_sources.h"

namespace vagt::scrape {
namespace {

// Files and URLs too, which the scrape manager asks itself.
DiscoveryPlanner with_listed(DiscoveryPlanner running, std::string user_agent) {
  return [running = std::move(running), user_agent](const DiscoveryConfig& config) {
    std::vector<PlannedSource> planned = running(config);
    if (!config.files.empty()) {
      std::string fingerprint = "file";
      for (const FileDiscoveryConfig& section : config.files) {
        for (const std::string& file : section.files) fingerprint += '\n' + file;
      }
      planned.push_back({fingerprint, [config] { return make_file_discovery(config.files); }});
    }
    for (const HttpDiscoveryConfig& section : config.http) {
      planned.push_back(
          {fmt::format("http\n{}\n{}", section.url, section.fingerprint),
           [section, user_agent] { return make_http_discovery(section, user_agent); }});
    }
    return planned;
  };
}

}  // namespace

TargetDirectory::TargetDirectory(Options options, base::Registry& registry, base::Logger log)
    : options_(std::move(options)),
      registry_(registry),
      log_(std::move(log)),
      planner_(with_listed(options_.planner ? options_.planner
                                            : make_discovery_planner(registry, options_.user_agent),
                           options_.user_agent)) {}

TargetDirectory::~TargetDirectory() { apply({}); }

void TargetDirectory::apply(const std::vector<const DiscoveryConfig*>& sections) {
  Runners ending;  // joined without the lock, which `changed` may want
  base::MutexLock lock(mutex_);
  Runners running;
  for (const DiscoveryConfig* section : sections) {
    for (const PlannedSource& planned : planner_(*section)) {
      std::shared_ptr<DiscoveryRunner>& runner = running[planned.fingerprint];
      if (runner != nullptr) continue;
      if (const auto known = runners_.find(planned.fingerprint); known != runners_.end()) {
        runner = known->second;
        continue;
      }
      const auto changed = [this] {
        if (options_.changed) options_.changed();
      };
      runner = std::make_shared<DiscoveryRunner>(planned.make(), changed, registry_, log_,
                                                 options_.user);
    }
  }
  ending = std::exchange(runners_, std::move(running));
}

TargetDirectory::Found TargetDirectory::found(const DiscoveryConfig& section) const {
  Found found;
  found.groups = section.static_groups;
  for (const std::string& kind : section.unsupported)
    found.errors.push_back(
        fmt::format("{}: this kind of discovery is not implemented; it finds no targets", kind));
  base::MutexLock lock(mutex_);
  for (const PlannedSource& planned : planner_(section)) {
    const auto known = runners_.find(planned.fingerprint);
    const DiscoveryRunner::State state =
        known == runners_.end() ? DiscoveryRunner::State() : known->second->state();
    if (state.version == 0) found.is_complete = false;
    if (state.groups != nullptr)
      found.groups.insert(found.groups.end(), state.groups->begin(), state.groups->end());
    if (!state.error.empty()) found.errors.push_back(state.error);
  }
  return found;
}

}  // namespace vagt::scrape

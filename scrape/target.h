// What is scraped: a job's target after relabelling, its address and its place in time, and what
// pages show of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/status.h"
#include "base/time.h"
#include "scrape/scrape_config.h"
#include "tsdb/store.h"

namespace vagt::scrape {

enum class Health : uint8_t { Unknown, Up, Down };
std::string_view health_name(Health health);  // "unknown", "up", "down"

// What identifies a target; made once, immutable.
struct TargetIdentity {
  Labels discovered;  // before relabelling, with the job's defaults
  Labels labels;      // public ones: what its series carry
  std::string url;    // with parameters
  Duration interval{}, timeout{};
  uint64_t hash = 0;  // of labels and url; stable across restarts, so that phases are
};

struct PopulateResult {
  std::optional<TargetIdentity> target;  // nullopt: relabelling dropped it
  Labels discovered;
};
// The job's defaults, relabelling, then the checks. InvalidArgument: no or bad address, interval or
// timeout.
Result<PopulateResult> populate_target(const ScrapeConfig& job, const Relabeler& relabel,
                                       const std::map<std::string, std::string>& target_labels,
                                       const std::map<std::string, std::string>& group_labels);

// One row of /api/v1/targets?state=active.
struct TargetView {
  std::string pool;
  Labels discovered_labels, labels;
  std::string scrape_url;
  std::string last_error;   // "" when the last scrape went well; holds no secret
  Timestamp last_scrape{};  // epoch: never
  Duration last_duration{0};
  double last_duration_seconds = 0;
  Health health = Health::Unknown;
  Duration interval{}, timeout{};
  uint64_t samples_scraped = 0, samples_kept = 0, series_added = 0;
  std::vector<std::string> warnings;  // "2 duplicate samples", "lines end in CR LF", …
};

struct DroppedTargetView {
  std::string pool;
  Labels discovered_labels;
};

// One row of /api/v1/targets/metadata.
struct TargetMetadata {
  Labels target;
  std::string metric;
  tsdb::Metadata metadata;
};

// A pool is a job. `errors`: discovery kinds that do not run, files that cannot be read, targets
// refused.
struct PoolView {
  std::string name;
  size_t active = 0, dropped = 0;
  std::vector<std::string> errors;
  size_t discovered = 0;       // targets, before relabelling
  size_t failing_sources = 0;  // of discovery
};

}  // namespace vagt::scrape

// Runs one collector, inside the scrape or in a thread of its own, and keeps the record of it.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "base/log.h"
#include "base/time.h"
#include "node-agent/collector_list.h"

namespace vagt::agent {

struct RunReport {
  bool has_run = false, success = false;
  bool cached = false;  // the samples are those of an earlier run
  double duration_seconds = 0;
  std::optional<Timestamp> last_success;
  std::map<std::string, uint64_t> errors;  // by reason: timeout, permission, parse, exit, missing
  uint64_t dropped_samples = 0;
};

class CollectorRunner {
 public:
  struct Limits {
    size_t max_samples = 4000;
    // Background runs: a result older than this many cadences is not shown.
    int max_age_cadences = 3;
  };
  CollectorRunner(const CollectorKind& kind, CollectorPtr collector, const Clock& clock,
                  base::Logger log, Limits limits);
  // Asks a running collector to stop and waits a moment; one that hangs in a call is left behind.
  ~CollectorRunner();
  CollectorRunner(const CollectorRunner&) = delete;
  CollectorRunner& operator=(const CollectorRunner&) = delete;

  std::string_view name() const { return kind_.name; }
  bool in_scrape() const { return kind_.cadence == Duration(0); }
  // Begins the background thread; nothing for a collector that runs in the scrape.
  void start();
  // The samples to show: in-scrape collectors run now. Null: none, or too old. One thread at a
  // time; the result is valid until the next call.
  std::shared_ptr<const MetricSink> samples();
  // `collect`: one run, waited for up to the deadline.
  std::shared_ptr<const MetricSink> run_once();
  RunReport report() const;

 private:
  struct Shared;
  static void run(Shared& shared, std::stop_token stop);
  static void loop(const std::shared_ptr<Shared>& shared, Duration cadence, std::stop_token stop);

  const CollectorKind kind_;
  const Limits limits_;
  std::shared_ptr<Shared> shared_;
  std::stop_source stop_;
};

}  // namespace vagt::agent

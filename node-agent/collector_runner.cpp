#include "node-agent/collector_runner.h"

#include <exception>
#include <thread>

#include "base/mutex.h"
#include "base/worker_pool.h"

namespace vagt::agent {
namespace {

using Steady = std::chrono::steady_clock;

std::string_view reason_of(const Status& status) {
  switch (status.code()) {
    case Code::Timeout:
      return "timeout";
    case Code::InvalidArgument:
    case Code::Corruption:
      return "parse";
    case Code::Unavailable:
      return "exit";
    default:
      return status.message().find("Permission denied") != std::string::npos ||
                     status.message().find("Operation not permitted") != std::string::npos
                 ? "permission"
                 : "missing";
  }
}

double seconds_between(Steady::time_point from, Steady::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

// Lives as long as its thread, which a call into broken hardware may hold for ever.
struct CollectorRunner::Shared {
  CollectorPtr collector;
  const Clock* clock;
  base::Logger log;
  Limits limits;
  Duration deadline;

  base::Mutex mutex;
  base::CondVar changed;
  RunReport report VAGT_GUARDED_BY(mutex);
  std::shared_ptr<MetricSink> result VAGT_GUARDED_BY(mutex);  // of the last good run
  Timestamp taken VAGT_GUARDED_BY(mutex){};
  bool running VAGT_GUARDED_BY(mutex) = false;
  bool overdue VAGT_GUARDED_BY(mutex) = false;  // this run's timeout has been counted
  Steady::time_point began VAGT_GUARDED_BY(mutex){};
  std::shared_ptr<MetricSink> spare;  // buffers for the next run; the running thread's

  void note(const Status& status) VAGT_REQUIRES(mutex) {
    const bool good = status.ok() || status.code() == Code::NotFound;
    if (!good) ++report.errors[std::string(reason_of(status))];
    // A change of state is news, a repetition is not.
    if (good != report.success || !report.has_run) {
      if (!good) {
        log.warn("collector fails",
                 {{"collector", collector->name()}, {"reason", status.message()}});
      } else if (report.has_run) {
        log.info("collector works again", {{"collector", collector->name()}});
      }
    }
    report.success = good;
    report.has_run = true;
  }

  void check_deadline() VAGT_REQUIRES(mutex) {
    if (!running || overdue || clock->steady_now() - began < deadline) return;
    overdue = true;
    note(Status(Code::Timeout, "no answer within its deadline"));
  }
};

CollectorRunner::CollectorRunner(const CollectorKind& kind, CollectorPtr collector,
                                 const Clock& clock, base::Logger log, Limits limits)
    : kind_(kind), limits_(limits), shared_(std::make_shared<Shared>()) {
  shared_->collector = std::move(collector);
  shared_->clock = &clock;
  shared_->log = std::move(log);
  shared_->limits = limits;
  shared_->deadline = kind.deadline;
}

CollectorRunner::~CollectorRunner() VAGT_NO_THREAD_ANALYSIS {
  stop_.request_stop();
  std::unique_lock<base::Mutex> lock(shared_->mutex);
  shared_->changed.wait_for(lock, std::chrono::milliseconds(200),
                            [this]() VAGT_NO_THREAD_ANALYSIS { return !shared_->running; });
}

void CollectorRunner::run(Shared& shared, std::stop_token stop) {
  {
    base::MutexLock lock(shared.mutex);
    shared.running = true;
    shared.overdue = false;
    shared.began = shared.clock->steady_now();
    // Buffers come back once nobody looks at the old result any more.
    if (shared.spare == nullptr || shared.spare.use_count() > 1)
      shared.spare = std::make_shared<MetricSink>();
  }
  MetricSink& sink = *shared.spare;
  sink.reset();
  Status status;
  try {
    status = shared.collector->collect(sink, stop);
  } catch (const std::exception& e) {
    status = Status(Code::Internal, e.what());
  }
  const size_t dropped = sink.drop_down_to(shared.limits.max_samples);
  base::MutexLock lock(shared.mutex);
  shared.report.duration_seconds = seconds_between(shared.began, shared.clock->steady_now());
  shared.report.dropped_samples += dropped;
  // A run that came late was a failure already; its samples are good all the same.
  if (!shared.overdue) shared.note(status);
  shared.taken = shared.clock->now();
  if (status.ok() || status.code() == Code::NotFound) {
    if (!shared.overdue) shared.report.last_success = shared.taken;
    std::swap(shared.result, shared.spare);
  } else if (sink.samples() > 0) {
    std::swap(shared.result, shared.spare);  // what it got before it failed
  }
  shared.running = false;
  shared.changed.notify_all();
}

void CollectorRunner::loop(const std::shared_ptr<Shared>& shared, Duration cadence,
                           std::stop_token stop) VAGT_NO_THREAD_ANALYSIS {
  while (!stop.stop_requested()) {
    const auto due = Steady::now() + cadence;
    run(*shared, stop);
    std::unique_lock<base::Mutex> lock(shared->mutex);
    shared->changed.wait_until(lock, stop, due, [] { return false; });
  }
}

void CollectorRunner::start() {
  if (in_scrape()) return;
  std::thread([shared = shared_, cadence = kind_.cadence, stop = stop_.get_token(),
               name = "collect-" + std::string(kind_.name)] {
    base::set_thread_name(name);
    loop(shared, cadence, stop);
  }).detach();
}

std::shared_ptr<const MetricSink> CollectorRunner::samples() {
  if (in_scrape()) {
    // What a failed run left of the run before is not shown.
    {
      base::MutexLock lock(shared_->mutex);
      std::swap(shared_->result, shared_->spare);
      shared_->result = nullptr;
    }
    run(*shared_, stop_.get_token());
    base::MutexLock lock(shared_->mutex);
    return shared_->result;
  }
  base::MutexLock lock(shared_->mutex);
  shared_->check_deadline();
  shared_->report.cached = shared_->result != nullptr;
  const Duration age = shared_->clock->now() - shared_->taken;
  if (age > kind_.cadence * limits_.max_age_cadences) return nullptr;
  return shared_->result;
}

std::shared_ptr<const MetricSink> CollectorRunner::run_once() VAGT_NO_THREAD_ANALYSIS {
  if (in_scrape()) return samples();
  std::thread([shared = shared_, stop = stop_.get_token()] { run(*shared, stop); }).detach();
  std::unique_lock<base::Mutex> lock(shared_->mutex);
  shared_->changed.wait_for(lock, kind_.deadline, [this]() VAGT_NO_THREAD_ANALYSIS {
    return !shared_->running && shared_->report.has_run;
  });
  shared_->check_deadline();
  return shared_->result;
}

RunReport CollectorRunner::report() const {
  base::MutexLock lock(shared_->mutex);
  return shared_->report;
}

}  // namespace vagt::agent

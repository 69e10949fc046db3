// The program's own metrics: registered once, handles resolved once, rendered as exposition text.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/mutex.h"

namespace vagt::base {

class Counter {
 public:
  void add(double n = 1) {
    double seen = value_.load(std::memory_order_relaxed);
    while (!value_.compare_exchange_weak(seen, seen + n, std::memory_order_relaxed)) {
    }
  }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Gauge {
 public:
  void set(double v) { value_.store(v, std::memory_order_relaxed); }
  void add(double n) {
    double seen = value_.load(std::memory_order_relaxed);
    while (!value_.compare_exchange_weak(seen, seen + n, std::memory_order_relaxed)) {
    }
  }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::vector<double> bounds);
  void observe(double v);
  void render(std::string& out, std::string_view name, const Labels& labels) const;

 private:
  const std::vector<double> bounds_;  // ascending, without +Inf
  std::vector<std::atomic<uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

// Handles live as long as the registry. Asking twice for the same name and labels gives the same
// handle.
class Registry {
 public:
  Registry();
  ~Registry();
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> bounds,
                       const Labels& labels = {});
  // A gauge or counter read at render time, for values another object already keeps. It must
  // outlive the registry or be removed with the returned token's destruction.
  enum class Kind : uint8_t { Counter, Gauge };
  using Reader = std::function<void(const std::function<void(const Labels&, double)>& emit)>;
  [[nodiscard]] std::shared_ptr<void> callback(Kind kind, std::string_view name,
                                               std::string_view help, Reader reader);

  // Ties a callback's token to the registry's own life.
  void keep(std::shared_ptr<void> token);

  // Text format 0.0.4: HELP and TYPE once per family, families in name order. Any thread.
  std::string render() const;

 private:
  struct Family;
  struct State;
  std::shared_ptr<State> state_;
};

// process_* (CPU, resident and virtual memory, file descriptors, start time) of this process, from
// /proc/self.
void register_process_metrics(Registry& registry, double start_time_seconds);

}  // namespace vagt::base

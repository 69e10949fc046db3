// What a collector is, and where it puts its samples.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/status.h"

namespace vagt::agent {

struct LabelView {
  std::string_view name, value;
};

// The samples of one metric family, kept as finished text lines.
class Family {
 public:
  Family(std::string_view name, std::string_view type, std::string_view help);
  void add(double value);
  // A label with an empty value is written: some tools tell it from a missing one.
  void add(std::initializer_list<LabelView> labels, double value);
  void add(std::span<const LabelView> labels, double value);
  // For counters beyond 2^53.
  void add_exact(std::initializer_list<LabelView> labels, uint64_t value);

  // A series already in exposition form, `name{label="value"}`.
  void add_series(std::string_view series, double value);

  const std::string& name() const { return name_; }
  const std::string& head() const { return head_; }    // HELP and TYPE lines
  const std::string& lines() const { return lines_; }  // empty: not on the page
  size_t samples() const { return samples_; }
  void clear() { lines_.clear(), samples_ = 0; }

 private:
  void begin(std::span<const LabelView> labels);
  std::string name_, head_, lines_;
  size_t samples_ = 0;
};

// The families of one collector's run. References stay valid until the sink is destroyed.
class MetricSink {
 public:
  Family& gauge(std::string_view name, std::string_view help) {
    return family(name, "gauge", help);
  }
  Family& counter(std::string_view name, std::string_view help) {
    return family(name, "counter", help);
  }
  Family& untyped(std::string_view name, std::string_view help) {
    return family(name, "untyped", help);
  }
  // Find or create; the first type and help win.
  Family& family(std::string_view name, std::string_view type, std::string_view help);

  // In name order.
  const std::map<std::string, Family, std::less<>>& families() const { return families_; }
  size_t samples() const;
  // Empties the largest families until at most `max` samples are left; how many went.
  size_t drop_down_to(size_t max);
  // Forgets the samples and keeps the buffers for the next run.
  void reset();

 private:
  std::map<std::string, Family, std::less<>> families_;
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual std::string_view name() const = 0;
  // NotFound: this host has no such hardware or kernel feature, which is not a failure. One thread.
  virtual Status collect(MetricSink& sink, std::stop_token stop) = 0;
};

}  // namespace vagt::agent

// The alerts vagtd raises about itself, without a rule: that its store refuses writes, that it
// refuses new series. They go where the rules' alerts go and are no part of /api/v1/rules.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/alert.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/time.h"

namespace vagt::engine {

class BuiltinAlerts {
 public:
  struct Condition {
    std::string alertname, severity, summary;
    std::function<std::string()> why;  // what is wrong, in words; "" when nothing is. Quick.
  };
  // `clock` and `sink` are borrowed. Each condition is also vagt_builtin_alert{alertname}.
  BuiltinAlerts(std::vector<Condition> conditions, Clock& clock, AlertSink& sink,
                base::Registry& registry);
  ~BuiltinAlerts() { stop(); }

  // Labels that every alert has unless it says otherwise: the configuration's external ones.
  void set_external_labels(Labels labels);
  void set_generator_url(std::string url) { generator_url_ = std::move(url); }  // before start()

  // Looks at every condition; publishes what began or ended, and what lasts once a minute.
  void step(Timestamp now);
  void start();  // step() every five seconds on a thread of its own
  void stop();

 private:
  struct State {
    Condition condition;
    base::Gauge* gauge = nullptr;
    std::optional<Timestamp> since, ended;
    Timestamp published{};
    std::string why;
  };
  Alert alert(const State& state, Timestamp now) const VAGT_REQUIRES(mutex_);

  Clock& clock_;
  AlertSink& sink_;
  std::string generator_url_;
  base::Mutex mutex_;
  std::vector<State> states_ VAGT_GUARDED_BY(mutex_);
  Labels external_labels_ VAGT_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace vagt::engine

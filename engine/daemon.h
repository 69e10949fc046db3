// vagtd put together: the one place that makes the parts, wires them, and starts and stops them in
// order.
#pragma once

#include <memory>

#include "base/log.h"
#include "base/status.h"
#include "base/time.h"
#include "engine/flags.h"

namespace vagt::engine {

class Daemon {
 public:
  // Opens the store, loads the configuration, starts scraping, rules, alerting and the server. The
  // error is worded for the operator.
  static Result<std::unique_ptr<Daemon>> start(Flags flags, Clock& clock, base::Logger log);
  ~Daemon();  // stops in order: server, scraping, rules, notify, store

  // Loads everything, then swaps; on an error the old configuration runs on. Any thread.
  Status reload();
  // True once /-/quit was asked for. Any thread.
  bool quit_requested() const;

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace vagt::engine

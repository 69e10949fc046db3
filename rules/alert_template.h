// Expands the labels and annotations of alerting rules.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/labels.h"
#include "base/status.h"
#include "base/time.h"
#include "query/value.h"
#include "template/template.h"

namespace vagt::rules {

// One group's template functions. One thread at a time.
class AlertTemplates {
 public:
  // Runs `query "…"` of a template at the time of the evaluation.
  using Query = std::function<Result<query::Vector>(const std::string& expr, Timestamp at)>;
  struct Options {
    Query query;  // none: `query` fails
    std::string external_url;
    size_t max_output_bytes = 64u << 10;
  };
  explicit AlertTemplates(Options options);
  ~AlertTemplates();

  // What `query` and `now` answer until the next call; external labels are $externalLabels.
  void begin(Timestamp at, const Labels& external_labels);
  // A text of the rule `alert` for one sample. A text that fails becomes
  // "<error expanding template: …>", and `error` says why.
  std::string expand(std::string_view alert, const std::string& text, const Labels& labels,
                     double value, Status* error = nullptr) const;
  // Syntax only: "template: __alert_NAME:1:4: …".
  Status check(std::string_view alert, const std::string& text) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vagt::rules

// The words in which rule unit tests report differences: promtool's.
#pragma once

#include <string>
#include <vector>

#include "base/labels.h"
#include "base/time.h"

namespace vagt::rules {

struct LabelsAndAnnotations {
  Labels labels, annotations;
  friend bool operator==(const LabelsAndAnnotations&, const LabelsAndAnnotations&) = default;
  friend auto operator<=>(const LabelsAndAnnotations&, const LabelsAndAnnotations&) = default;
};
struct TestSample {
  Labels labels;
  double value = 0;
};

std::string alert_failure(const std::string& test, const std::string& alert, Duration at,
                          const std::vector<LabelsAndAnnotations>& expected,
                          const std::vector<LabelsAndAnnotations>& got, bool diff);
std::string expr_failure(const std::string& test, const std::string& expr, Duration at,
                         const std::vector<TestSample>& expected,
                         const std::vector<TestSample>& got, bool diff);

}  // namespace vagt::rules

// Any bytes as a template, of an alerting rule, of a page and of an HTML mail: text or an error,
// within the limits, never a crash; what passes the check parses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "template/template.h"

namespace {

using namespace vagt::tmpl;

constexpr size_t kMaxOutput = 4096;

TemplateValue sample_data() {
  const ValueMap alert{{"Status", "firing"},
                       {"Labels", ValueMap{{"alertname", "Hot"}, {"gpu", "3"}}},
                       {"Value", 91.5}};
  return ValueMap{{"Alerts", ValueList{alert, alert}},
                  {"Labels", ValueMap{{"instance", "n1"}, {"odd", "<b>&'\""}}},
                  {"Count", int64_t{2}},
                  {"Empty", TemplateValue()},
                  {"ExternalURL", "http://x.example/?a=b"}};
}

void run(const TemplateSet& set, std::string_view text, Escape escape) {
  static const TemplateValue data = sample_data();
  Limits limits;
  limits.max_output_bytes = kMaxOutput;
  limits.max_steps = 20'000;
  limits.max_depth = 20;
  const auto out = set.render(text, data, escape, limits);
  if (out && out->size() > kMaxOutput) std::abort();
  if (!out && out.error().message().empty()) std::abort();
  if (out && !set.check_syntax(text).ok()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const TemplateSet rule(prometheus_functions());
  run(rule, text, Escape::None);
  TemplateSet page(alertmanager_functions([] { return vagt::from_millis(1'800'000'000'000); }));
  page.add("fuzz.tmpl", text).ignore("a refusal is an answer");
  run(page, text, Escape::None);
  run(page, text, Escape::Html);
  return 0;
}

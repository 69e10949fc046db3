// Any bytes as a rule file, a unit test file or a series in one; the first byte says which. A file
// or an error that names the place, never a crash.
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "rules/alert_template.h"
#include "rules/rule_file.h"
#include "rules/test_file.h"

namespace {

constexpr const char* kPath = "/fuzz/rules.yml";

void expand_all(const vagt::rules::RuleFile& file) {
  vagt::rules::AlertTemplates::Options options;
  options.max_output_bytes = 4096;
  vagt::rules::AlertTemplates templates(std::move(options));
  const vagt::Labels labels = vagt::Labels::of({{"instance", "n1"}, {"gpu", "3"}});
  templates.begin(vagt::from_millis(1'800'000'000'000), labels);
  for (const auto& group : file.groups) {
    for (const auto& rule : group.rules) {
      const auto* alert = std::get_if<vagt::rules::AlertRule>(&rule);
      if (alert == nullptr) continue;
      for (const auto* texts : {&alert->labels, &alert->annotations})
        for (const auto& [name, text] : *texts)
          templates.expand(alert->name, text, labels, std::nan(""), nullptr);
    }
  }
}

void rule_file(std::string_view text) {
  const auto result = vagt::rules::parse_rule_file(text, kPath);
  for (const vagt::Status& error : result.errors) {
    if (error.message().rfind(kPath, 0) == 0) continue;
    std::fprintf(stderr, "an error without a place: %s\n", error.message().c_str());
    std::abort();
  }
  if (!result.errors.empty()) return;
  std::set<std::string> names;
  for (const auto& group : result.file.groups)
    if (group.name.empty() || !names.insert(group.name).second) std::abort();
  expand_all(result.file);
}

void test_file(std::string_view text) {
  static const std::string path = "/tmp/rules_fuzz_" + std::to_string(getpid()) + ".yml";
  std::ofstream(path, std::ios::binary) << text;
  vagt::rules::load_test_file(path, false).status().ignore("a refusal is an answer");
  vagt::rules::load_test_file(path, true).status().ignore("a refusal is an answer");
  unlink(path.c_str());
}

void series(std::string_view text) {
  vagt::rules::parse_values(text).status().ignore("a refusal is an answer");
  vagt::rules::parse_series(text).status().ignore("a refusal is an answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      rule_file(text);
      break;
    case 1:
      test_file(text);
      break;
    default:
      series(text);
  }
  return 0;
}

// Any bytes as prometheus.yml: a configuration, or an error that begins with its place; in bounded
// time and memory. What loads is shown as text that loads again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/prometheus_config.h"

namespace {

constexpr std::string_view kPath = "/fuzz/prometheus.yml";

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Other files are another matter: what they say depends on the machine.
  if (text.find("scrape_config_files") != std::string_view::npos) return 0;
  const auto config = vagt::config::parse_prometheus_config(text, std::string(kPath));
  if (!config) {
    const std::string& message = config.error().message();
    if (message.find(kPath) != 0) fail("an error without a place", message);
    return 0;
  }
  for (const auto& job : config->scrape_configs) {
    if (job.job_name.empty() || job.timeout > job.interval)
      fail("a job that is none", job.job_name);
  }
  return 0;
}

// Any bytes as alertmanager.yml, as bodies of the API and as durable records; the first byte says
// which. A configuration or a name of the place, a body or a refusal, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/alertmanager_config.h"
#include "notify/alert_record.h"
#include "notify/api_json.h"
#include "notify/group.h"
#include "notify/notification_log.h"
#include "notify/silence.h"
#include "notify/template_data.h"

namespace {

void configuration(std::string_view text) {
  const auto config = vagt::config::parse_alertmanager_config(text, "/fuzz/alertmanager.yml");
  if (!config) {
    const std::string& message = config.error().message();
    if (message.find("/fuzz/alertmanager.yml") != 0) {
      std::fprintf(stderr, "an error without a place: %s\n", message.c_str());
      std::abort();
    }
    return;
  }
  if (config->route.receiver.empty() || config->receivers.empty()) std::abort();
  vagt::notify::Route::build(config->route)->match(vagt::Labels::of({{"alertname", "A"}}));
}

void bodies(std::string_view text) {
  using namespace vagt::notify;
  const auto alerts = parse_posted_alerts(text);
  if (alerts.error && alerts.error->status / 100 != 4) std::abort();
  const auto silence = parse_posted_silence(text);
  if (silence.error && silence.error->status / 100 != 4) std::abort();
  parse_template_data(text).status().ignore("a refusal is an answer");
}

void records(std::string_view text) {
  using namespace vagt::notify;
  if (const auto alert = decode_alert(text);
      alert && decode_alert(encode_alert(*alert)).ok() == false)
    std::abort();
  decode_silence(text).status().ignore("a refusal is an answer");
  decode_log_entry(text).status().ignore("a refusal is an answer");
  decode_group_timer(text).status().ignore("a refusal is an answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      configuration(text);
      break;
    case 1:
      bodies(text);
      break;
    default:
      records(text);
  }
  return 0;
}

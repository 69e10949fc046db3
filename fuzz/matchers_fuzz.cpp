// Any bytes as matchers and as an API query: what parses prints to a text that parses to the same.
// Never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "notify/api_json.h"
#include "notify/matchers.h"

namespace {

void check(std::string_view text, vagt::notify::MatcherSyntax syntax) {
  using namespace vagt::notify;
  parse_matcher(text, syntax).status().ignore("only crashes count");
  auto matchers = parse_matchers(text, syntax);
  if (!matchers) return;
  sort_matchers(*matchers);
  const std::string printed = matchers_text(*matchers);
  auto again = parse_matchers(printed, MatcherSyntax::Utf8);
  if (!again) std::abort();
  sort_matchers(*again);
  if (matchers_text(*again) != printed) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vagt::notify;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto syntax : {MatcherSyntax::Fallback, MatcherSyntax::Classic, MatcherSyntax::Utf8})
    check(text, syntax);
  const QueryParameters query{{"filter", std::string(text)}, {"receiver", std::string(text)}};
  parse_alert_query(query).status().ignore("only crashes count");
  parse_silence_query(query).status().ignore("only crashes count");
  return 0;
}

// Any bytes as a query: a tree that prints and parses back to itself, or an error with a place.
// Never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "query/parse.h"
#include "query/parse_json.h"

namespace {

void require(bool holds, std::string_view what, std::string_view text) {
  if (holds) return;
  std::fprintf(stderr, "%.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(text.size()), text.data());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vagt::query;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ParseOptions options;
  options.experimental_functions = options.extended_range_selectors = options.binop_fill_modifiers =
      true;
  parse_metric_selector(text).ignore("only crashes count");
  const auto expr = parse_expr(text, options);
  if (!expr) {
    require(expr.error().message().find(": parse error: ") != std::string::npos,
            "error without a place", text);
    return 0;
  }
  const std::string printed = print_expr(**expr);
  const auto again = parse_expr(printed, options);
  require(again.ok(), "printed text does not parse", printed);
  require(print_expr(**again) == printed, "printing is not stable", printed);
  // Printing sorts matchers, so the trees may differ in their order.
  require(expr_to_json(**again).size() == expr_to_json(**expr).size(), "printing changes the tree",
          printed);
  require(parse_expr(format_expr(**expr), options).ok(), "formatted text does not parse", printed);
  return 0;
}

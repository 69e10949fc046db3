// Which text format a target speaks, and how it is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vagt::exposition {

// What the parser distinguishes. Text is 0.0.4 and 1.0.0 (the latter only adds quoted names, which
// both accept).
enum class Format : uint8_t { Text, OpenMetrics };

// `scrape_protocols` of the configuration.
enum class Protocol : uint8_t {
  OpenMetricsText001,
  OpenMetricsText100,
  PrometheusProto,
  PrometheusText004,
  PrometheusText100,
};
std::string_view protocol_name(Protocol protocol);  // "PrometheusText0.0.4"
std::optional<Protocol> protocol_from_name(std::string_view name);
// "OpenMetricsText0.0.1 OpenMetricsText1.0.0 …", as error messages list them.
std::string protocol_names();

// How names outside [a-zA-Z_:] are asked for: the `escaping` term of the Accept header.
enum class Escaping : uint8_t { AllowUtf8, Underscores, Dots, Values };
std::string_view escaping_name(Escaping escaping);  // "allow-utf-8"

// The Accept header for protocols in order of preference. PrometheusProto is left out: it is not
// parsed.
std::string accept_header(std::span<const Protocol> protocols, Escaping escaping);

struct Negotiated {
  Format format = Format::Text;
  std::string warning;  // set when the fallback was needed
};
// InvalidArgument: blank, unparsable or unsupported Content-Type and no fallback; the message names
// the header and fallback_scrape_protocol.
Result<Negotiated> negotiate(std::string_view content_type, std::optional<Protocol> fallback);

}  // namespace vagt::exposition

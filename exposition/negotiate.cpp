#include "exposition/negotiate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/labels.h"

namespace vagt::exposition {
namespace {

struct ProtocolText {
  Protocol protocol;
  std::string_view name, media_type;
};
constexpr std::array<ProtocolText, 5> kProtocols = {{
    {Protocol::OpenMetricsText001, "OpenMetricsText0.0.1",
     "application/openmetrics-text;version=0.0.1"},
    {Protocol::OpenMetricsText100, "OpenMetricsText1.0.0",
     "application/openmetrics-text;version=1.0.0"},
    {Protocol::PrometheusProto, "PrometheusProto", "application/vnd.google.protobuf"},
    {Protocol::PrometheusText004, "PrometheusText0.0.4", "text/plain;version=0.0.4"},
    {Protocol::PrometheusText100, "PrometheusText1.0.0", "text/plain;version=1.0.0"},
}};

const ProtocolText& text_of(Protocol protocol) { return kProtocols[static_cast<size_t>(protocol)]; }

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("!#$%&'*+-.^_`{|}~").find(c) != std::string_view::npos;
}
std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}
std::string_view take_token(std::string_view& text) {
  size_t n = 0;
  while (n < text.size() && is_token_char(text[n])) ++n;
  const std::string_view token = text.substr(0, n);
  text.remove_prefix(n);
  return token;
}

// `text` begins with a double quote. False: it does not end.
bool skip_quoted(std::string_view& text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

// The lower-case media type when the whole header is well-formed (as Go's mime.ParseMediaType).
std::optional<std::string> media_type(std::string_view header) {
  std::string_view type = trim(header.substr(0, header.find(';')));
  std::string lower(type);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string_view rest = lower;
  const bool has_major = !take_token(rest).empty();
  if (rest.starts_with('/')) {
    rest.remove_prefix(1);
    if (take_token(rest).empty()) return std::nullopt;
  }
  if (!has_major || !rest.empty()) return std::nullopt;
  std::string_view parameters = header.substr(std::min(header.find(';'), header.size()));
  while (!(parameters = trim(parameters)).empty()) {
    if (parameters.front() != ';') return std::nullopt;
    parameters = trim(parameters.substr(1));
    if (parameters.empty()) break;  // a trailing semicolon is fine
    if (take_token(parameters).empty() || !parameters.starts_with('=')) return std::nullopt;
    parameters.remove_prefix(1);
    const bool is_quoted = parameters.starts_with('"');
    if (is_quoted ? !skip_quoted(parameters) : take_token(parameters).empty()) return std::nullopt;
  }
  return lower;
}

}  // namespace

std::string_view protocol_name(Protocol protocol) { return text_of(protocol).name; }

std::optional<Protocol> protocol_from_name(std::string_view name) {
  for (const ProtocolText& p : kProtocols) {
    if (p.name == name) return p.protocol;
  }
  return std::nullopt;
}

std::string protocol_names() {
  std::string all;
  for (const ProtocolText& p : kProtocols) {
    if (!all.empty()) all += ' ';
    all += p.name;
  }
  return all;
}

std::string_view escaping_name(Escaping escaping) {
  switch (escaping) {
    case Escaping::AllowUtf8:
      return "allow-utf-8";
    case Escaping::Underscores:
      return "underscores";
    case Escaping::Dots:
      return "dots";
    case Escaping::Values:
      return "values";
  }
  return "allow-utf-8";
}

std::string accept_header(std::span<const Protocol> protocols, Escaping escaping) {
  std::string header;
  size_t weight = kProtocols.size() + 1;
  for (const Protocol protocol : protocols) {
    if (protocol == Protocol::PrometheusProto) continue;
    header += text_of(protocol).media_type;
    // Older versions of the formats know no term for it.
    if (protocol == Protocol::OpenMetricsText100 || protocol == Protocol::PrometheusText100) {
      header += fmt::format(";escaping={}", escaping_name(escaping));
    }
    header += fmt::format(";q=0.{},", weight--);
  }
  return header + fmt::format("*/*;q=0.{}", weight);
}

Result<Negotiated> negotiate(std::string_view content_type, std::optional<Protocol> fallback) {
  std::string complaint;
  if (trim(content_type).empty()) {
    complaint = "non-compliant scrape target sending blank Content-Type";
  } else if (const auto type = media_type(content_type); !type) {
    complaint = fmt::format("cannot parse Content-Type {}", quote(content_type));
  } else if (*type == "text/plain") {
    return Negotiated{Format::Text, ""};
  } else if (*type == "application/openmetrics-text") {
    return Negotiated{Format::OpenMetrics, ""};
  } else {
    complaint = fmt::format("received unsupported Content-Type {}", quote(content_type));
  }
  if (!fallback || *fallback == Protocol::PrometheusProto) {
    return Status::invalid(complaint + " and no fallback_scrape_protocol specified for target");
  }
  const bool open_metrics =
      *fallback == Protocol::OpenMetricsText001 || *fallback == Protocol::OpenMetricsText100;
  return Negotiated{open_metrics ? Format::OpenMetrics : Format::Text,
                    fmt::format("{}, using fallback_scrape_protocol {}", complaint,
                                quote(protocol_name(*fallback)))};
}

}  // namespace vagt::exposition

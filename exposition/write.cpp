#include "exposition/write.h"

#include <fmt/core.h>

#include "base/number_text.h"

namespace vagt::exposition {
namespace {

void append_escaped(std::string& out, std::string_view text, bool quotes_too) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (c == '"' && quotes_too)) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
}
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text, true);
  out += '"';
}
void append_metric_name(std::string& out, std::string_view name) {
  is_legacy_metric_name(name) ? static_cast<void>(out += name) : append_quoted(out, name);
}

std::string_view type_word(MetricType type, Format format) {
  if (format == Format::OpenMetrics) return metric_type_name(type);
  switch (type) {  // what 0.0.4 has no word for
    case MetricType::Unknown:
      return "untyped";
    case MetricType::GaugeHistogram:
      return "histogram";
    case MetricType::Info:
    case MetricType::StateSet:
      return "gauge";
    default:
      return metric_type_name(type);
  }
}

void write_header(std::string& out, const Family& family, Format format) {
  if (!family.help.empty()) {
    out += "# HELP ";
    append_metric_name(out, family.name);
    out += ' ';
    append_escaped(out, family.help, format == Format::OpenMetrics);
    out += '\n';
  }
  if (family.print_type) {
    out += "# TYPE ";
    append_metric_name(out, family.name);
    out += fmt::format(" {}\n", type_word(family.type, format));
  }
  if (!family.unit.empty() && format == Format::OpenMetrics) {
    out += "# UNIT ";
    append_metric_name(out, family.name);
    out += fmt::format(" {}\n", family.unit);
  }
}

}  // namespace

std::string_view content_type(Format format) {
  return format == Format::OpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

void write_series(std::string& out, std::string_view name, const Labels& labels) {
  const bool legacy = is_legacy_metric_name(name);
  bool open = !legacy;
  if (legacy) {
    out += name;
  } else {
    out += '{';
    append_quoted(out, name);
  }
  for (const Label& label : labels.items()) {
    if (label.name == kMetricName) continue;
    out += open ? ',' : '{';
    open = true;
    is_legacy_label_name(label.name) ? static_cast<void>(out += label.name)
                                     : append_quoted(out, label.name);
    out += '=';
    append_quoted(out, label.value);
  }
  if (open) out += '}';
}

void write_family(std::string& out, const Family& family, Format format) {
  write_header(out, family, format);
  for (const WrittenSample& sample : family.samples) {
    write_series(out, sample.name, sample.labels);
    out += ' ';
    append_float(out, sample.value);
    if (sample.at) {
      out += ' ';
      if (format == Format::OpenMetrics) {
        append_float(out, to_seconds(*sample.at));
      } else {
        out += fmt::format("{}", to_millis(*sample.at));
      }
    }
    out += '\n';
  }
}

std::string write_page(std::span<const Family> families, Format format) {
  std::string out;
  for (const Family& family : families) write_family(out, family, format);
  if (format == Format::OpenMetrics) out += "# EOF\n";
  return out;
}

}  // namespace vagt::exposition

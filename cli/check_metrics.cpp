#include "cli/check_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <istream>
#include <map>
#include <ostream>
#include <vector>

#include "cli/metric_lint.h"

namespace vagt::cli {
namespace {

using exposition::Entry;
using exposition::EntryKind;
using exposition::MetricType;
using Families = std::map<std::string, MetricFamily>;

std::string plain(std::string_view raw, bool has_escapes) {
  std::string out;
  if (has_escapes) {
    exposition::unescape(raw, out);
  } else {
    out = raw;
  }
  return out;
}

// The family a series belongs to: `x_bucket`, `x_sum` and `x_count` are x's when x is a histogram
// or summary.
MetricFamily& family_of(Families& families, const std::string& series) {
  for (const char* suffix : {"_bucket", "_count", "_sum"}) {
    if (!series.ends_with(suffix)) continue;
    const auto found =
        families.find(series.substr(0, series.size() - std::string_view(suffix).size()));
    if (found == families.end()) continue;
    const MetricType type = found->second.type;
    const bool has_parts = type == MetricType::Histogram ||
                           (type == MetricType::Summary && suffix != std::string_view("_bucket"));
    if (has_parts) return found->second;
  }
  MetricFamily& family = families[series];
  family.name = series;
  return family;
}

void take_entry(const Entry& entry, Families& families) {
  if (entry.kind == EntryKind::Comment) return;
  const std::string name = plain(entry.raw_name, entry.name_has_escapes);
  if (entry.kind == EntryKind::Sample) {
    MetricFamily& family = family_of(families, name);
    ++family.series;
    for (const auto& label : entry.labels) {
      const std::string label_name = plain(label.raw_name, label.name_has_escapes);
      const bool is_own = (family.type == MetricType::Histogram && label_name == "le") ||
                          (family.type == MetricType::Summary && label_name == "quantile");
      if (!is_own) family.label_names.insert(label_name);
    }
    return;
  }
  MetricFamily& family = families[name];
  family.name = name;
  if (entry.kind == EntryKind::Help) family.help = entry.rest;
  if (entry.kind == EntryKind::Type) family.type = entry.type;
}

Result<Families> read_page(const std::string& page) {
  Families families;
  exposition::Parser parser(page, exposition::Format::Text);
  while (parser.next()) take_entry(parser.entry(), families);
  if (!parser.status().ok()) return parser.status();
  return families;
}

// promtool's table: two blanks and more between columns of at least 15.
void print_cardinality(std::ostream& out, const Families& families) {
  std::vector<const MetricFamily*> sorted;
  size_t total = 0;
  size_t width = std::string_view("Metric").size() + 4;
  for (const auto& item : families) {
    if (item.second.series == 0) continue;
    sorted.push_back(&item.second);
    total += item.second.series;
    width = std::max(width, item.first.size() + 4);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const MetricFamily* a, const MetricFamily* b) {
    return a->series > b->series;
  });
  const auto row = [&](const std::string& name, const std::string& count,
                       const std::string& share) {
    out << fmt::format("{:<{}}{:<15}{:<14}\n", name, width, count, share);
  };
  row("Metric", "Cardinality", "Percentage");
  for (const MetricFamily* family : sorted) {
    const double share = 100.0 * static_cast<double>(family->series) / static_cast<double>(total);
    row(family->name, std::to_string(family->series), fmt::format("{:.2f}%", share));
  }
  row("Total", std::to_string(total), "100%");
}

// A pipe may be endless.
Result<std::string> read_input(std::istream& in) {
  constexpr size_t kMost = 256u << 20;
  std::string page;
  std::vector<char> piece(1u << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
    page.append(piece.data(), static_cast<size_t>(in.gcount()));
    if (page.size() > kMost)
      return Status(Code::LimitExceeded, fmt::format("more than {} bytes of input", kMost));
  }
  return page;
}

}  // namespace

int check_metrics(Context& context, const CheckMetrics& check) {
  const auto page = read_input(context.in);
  const Result<Families> families = page ? read_page(*page) : page.error();
  if (!families) {
    context.err << "error while linting: text format parsing error: " << families.error().message()
                << "\n";
    return kFailure;
  }
  bool has_findings = false;
  for (const auto& item : *families) {
    for (const std::string& finding : lint_family(item.second)) {
      context.err << item.first << " " << finding << "\n";
      has_findings = true;
    }
  }
  if (has_findings) return kLintFailure;
  if (check.extended) print_cardinality(context.out, *families);
  return kSuccess;
}

}  // namespace vagt::cli

#include "node-agent/page.h"

#include <algorithm>

namespace vagt::agent {
namespace {

constexpr std::string_view kTotal = "_total";

// In OpenMetrics a counter's family has no _total, and a family name may occur only once: where
// another family has that name, or the suffix is missing, the type is left unknown.
void append_open_metrics_head(std::string& out, const Family& family,
                              const std::vector<const Family*>& families) {
  std::string_view rest = family.head();
  const std::string_view help_line = rest.substr(0, rest.find('\n') + 1);
  const std::string_view type_line = rest.substr(help_line.size());
  const std::string_view help = help_line.substr(7 + family.name().size());
  std::string_view type = type_line.substr(8 + family.name().size());
  type.remove_suffix(1);
  std::string_view name = family.name();
  if (type == "untyped") type = "unknown";
  if (type == "counter") {
    const bool has_suffix =
        name.size() > kTotal.size() && name.substr(name.size() - kTotal.size()) == kTotal;
    const std::string_view base = name.substr(0, name.size() - (has_suffix ? kTotal.size() : 0));
    const bool taken = std::any_of(families.begin(), families.end(),
                                   [&](const Family* other) { return other->name() == base; });
    if (has_suffix && !taken) {
      name = base;
    } else {
      type = "unknown";
    }
  }
  out += "# TYPE ";
  out += name;
  out += ' ';
  out += type;
  out += "\n# HELP ";
  out += name;
  out += help;
}

}  // namespace

std::string render_page(const std::vector<std::shared_ptr<const MetricSink>>& sinks,
                        bool open_metrics, size_t size_hint) {
  std::vector<const Family*> families;
  for (const auto& sink : sinks) {
    if (sink == nullptr) continue;
    for (const auto& entry : sink->families())
      if (!entry.second.lines().empty()) families.push_back(&entry.second);
  }
  std::stable_sort(families.begin(), families.end(),
                   [](const Family* a, const Family* b) { return a->name() < b->name(); });
  std::string page;
  page.reserve(size_hint + size_hint / 8 + 4096);
  const Family* before = nullptr;
  for (const Family* family : families) {
    if (before == nullptr || before->name() != family->name()) {
      if (open_metrics) {
        append_open_metrics_head(page, *family, families);
      } else {
        page += family->head();
      }
    }
    page += family->lines();
    before = family;
  }
  if (open_metrics) page += "# EOF\n";
  return page;
}

}  // namespace vagt::agent

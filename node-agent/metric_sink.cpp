#include <charconv>
#include <cmath>

#include "base/labels.h"
#include "base/number_text.h"
#include "node-agent/collector.h"

namespace vagt::agent {
namespace {

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  const std::string_view special = quotes ? "\\\n\"" : "\\\n";
  while (true) {
    const size_t at = text.find_first_of(special);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return;
    out += '\\';
    out += text[at] == '\n' ? 'n' : text[at];
    text.remove_prefix(at + 1);
  }
}

// Exposition text is UTF-8; what hardware and kernel strings hold may not be. A run of bad bytes
// becomes one U+FFFD, as Go's ToValidUTF8 has it.
void append_text(std::string& out, std::string_view value, bool quotes) {
  if (is_valid_utf8(value)) {
    append_escaped(out, value, quotes);
    return;
  }
  bool in_bad_run = false;
  while (!value.empty()) {
    size_t n = 1;
    while (n <= 4 && n <= value.size() && !is_valid_utf8(value.substr(0, n))) ++n;
    const bool bad = n > 4 || n > value.size();
    if (bad && !in_bad_run) out += "\xEF\xBF\xBD";
    if (!bad) append_escaped(out, value.substr(0, n), quotes);
    in_bad_run = bad;
    value.remove_prefix(bad ? 1 : n);
  }
}

void append_value(std::string& out, double value) {
  char buffer[32];
  // The usual case, several times faster than the shortest-digits search.
  if (std::fabs(value) < 1e15 && value == std::trunc(value) &&
      (value != 0 || !std::signbit(value))) {
    out.append(buffer,
               std::to_chars(buffer, buffer + sizeof buffer, static_cast<int64_t>(value)).ptr);
  } else if (std::isfinite(value)) {
    out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  } else {
    out += format_float_g(value);
  }
  out += '\n';
}

// Some names are made of what the kernel prints; a page must stay readable whatever that is.
std::string metric_name(std::string_view name) {
  std::string out(name);
  if (is_legacy_metric_name(name)) return out;
  for (char& c : out)
    if (!is_legacy_metric_name(std::string("a") + c)) c = '_';
  if (!is_legacy_metric_name(out)) out.insert(out.begin(), '_');
  return out;
}

}  // namespace

Family::Family(std::string_view name, std::string_view type, std::string_view help)
    : name_(metric_name(name)) {
  head_ = "# HELP ";
  head_ += name_;
  head_ += ' ';
  append_text(head_, help, false);
  head_ += "\n# TYPE ";
  head_ += name_;
  head_ += ' ';
  head_ += type;
  head_ += '\n';
}

void Family::begin(std::span<const LabelView> labels) {
  lines_ += name_;
  char separator = '{';
  for (const LabelView& label : labels) {
    lines_ += separator;
    lines_ += label.name;
    lines_ += "=\"";
    append_text(lines_, label.value, true);
    lines_ += '"';
    separator = ',';
  }
  if (!labels.empty()) lines_ += '}';
  lines_ += ' ';
  ++samples_;
}

void Family::add(double value) { add(std::span<const LabelView>(), value); }

void Family::add(std::initializer_list<LabelView> labels, double value) {
  add(std::span<const LabelView>(labels.begin(), labels.size()), value);
}

void Family::add(std::span<const LabelView> labels, double value) {
  begin(labels);
  append_value(lines_, value);
}

void Family::add_exact(std::initializer_list<LabelView> labels, uint64_t value) {
  begin(std::span<const LabelView>(labels.begin(), labels.size()));
  char buffer[24];
  lines_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  lines_ += '\n';
}

void Family::add_series(std::string_view series, double value) {
  lines_ += series;
  lines_ += ' ';
  append_value(lines_, value);
  ++samples_;
}

Family& MetricSink::family(std::string_view name, std::string_view type, std::string_view help) {
  const auto found = families_.find(name);
  if (found != families_.end()) return found->second;
  return families_.try_emplace(std::string(name), name, type, help).first->second;
}

size_t MetricSink::samples() const {
  size_t n = 0;
  for (const auto& [name, family] : families_) n += family.samples();
  return n;
}

size_t MetricSink::drop_down_to(size_t max) {
  size_t left = samples(), dropped = 0;
  while (left > max) {
    Family* largest = nullptr;
    for (auto& [name, family] : families_)
      if (largest == nullptr || family.samples() > largest->samples()) largest = &family;
    left -= largest->samples();
    dropped += largest->samples();
    largest->clear();
  }
  return dropped;
}

void MetricSink::reset() {
  // Names that come and go (textfiles) must not pile up.
  constexpr size_t kMaxKept = 1000;
  if (families_.size() > kMaxKept) families_.clear();
  for (auto& [name, family] : families_) family.clear();
}

}  // namespace vagt::agent

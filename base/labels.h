// A label set: the identity of a series or an alert.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace vagt {

inline constexpr std::string_view kMetricName = "__name__";
inline constexpr std::string_view kAlertName = "alertname";

struct Label {
  std::string_view name, value;  // views into the Labels they came from
  friend bool operator==(const Label&, const Label&) = default;
  friend auto operator<=>(const Label&, const Label&) = default;
};

// Immutable, sorted by name, unique names, no empty values. A copy is a reference count.
class Labels {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  Labels() = default;
  // Sorts; drops empty values. InvalidArgument: a name occurs twice, or is empty.
  static Result<Labels> make(Pairs pairs);
  // The same for names known to be unique and non-empty (literals, map keys).
  static Labels of(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs);
  // `sorted`: by name, unique, no empty value; only asserted. The one allocation is here.
  static Labels from_sorted(std::span<const Label> sorted);
  static Labels from_map(const std::map<std::string, std::string>& map);

  Labels(const Labels& other) noexcept;
  Labels(Labels&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Labels& operator=(Labels other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Labels();

  // "" when absent, as PromQL has it.
  std::string_view get(std::string_view name) const;
  bool has(std::string_view name) const { return !get(name).empty(); }
  std::span<const Label> items() const;
  bool empty() const { return rep_ == nullptr; }
  size_t size() const { return items().size(); }

  uint64_t hash() const;  // this process only
  uint64_t fingerprint()
      const;  // stable across releases, it is on disk: FNV-1a over name 0xff value 0xff

  std::map<std::string, std::string> to_map() const;
  // `name{a="b",c="d"}` as Prometheus prints series; `{}` when empty. Names beyond [a-zA-Z_:] are
  // quoted.
  std::string to_string() const;

  friend bool operator==(const Labels& a, const Labels& b);
  // Name, value pairs in order, shorter first: the order of Prometheus's labels.Compare.
  friend std::strong_ordering operator<=>(const Labels& a, const Labels& b);

 private:
  struct Rep;
  explicit Labels(Rep* rep) : rep_(rep) {}
  Rep* rep_ = nullptr;  // null: the empty set
};

struct LabelsHash {
  size_t operator()(const Labels& labels) const { return labels.hash(); }
};

// Changes a label set: relabelling, aggregation, alert labels.
class LabelsBuilder {
 public:
  LabelsBuilder() = default;
  explicit LabelsBuilder(const Labels& base);
  // An empty value deletes.
  LabelsBuilder& set(std::string_view name, std::string_view value);
  LabelsBuilder& erase(std::string_view name);
  std::string_view get(std::string_view name) const;
  // Sorted by name, no empty values.
  const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }
  Labels build() const;

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

// [a-zA-Z_:][a-zA-Z0-9_:]*
bool is_legacy_metric_name(std::string_view name);
// [a-zA-Z_][a-zA-Z0-9_]*
bool is_legacy_label_name(std::string_view name);
// Not empty and well-formed UTF-8: what a label or metric name may be since Prometheus 3.
bool is_utf8_name(std::string_view name);
bool is_valid_utf8(std::string_view text);
// Appends a code point of at most U+10FFFF.
void append_utf8(std::string& out, uint32_t rune);

// Go's strconv.Quote: the text in double quotes with Go's escapes.
std::string quote(std::string_view text);

}  // namespace vagt

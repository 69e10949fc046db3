#include "base/labels.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace vagt {

// One allocation: the header, then `count` Labels, then the bytes they point to.
struct Labels::Rep {
  std::atomic<uint32_t> references{1};
  uint32_t count = 0;
  uint64_t hash = 0;

  Label* labels() { return reinterpret_cast<Label*>(this + 1); }
  const Label* labels() const { return reinterpret_cast<const Label*>(this + 1); }
};

namespace {

uint64_t mix(uint64_t h, std::string_view bytes) {
  // wyhash-like multiply-fold over 8-byte words; good enough for tables of this process and much
  // faster than FNV.
  constexpr uint64_t kMul = 0x9E3779B97F4A7C15ULL;
  const char* p = bytes.data();
  size_t n = bytes.size();
  h ^= n * kMul;
  auto fold = [&h](uint64_t word) {
    const __uint128_t product = static_cast<__uint128_t>(h ^ word) * 0xA0761D6478BD642FULL;
    h = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    fold(word);
  }
  if (n > 0) {
    uint64_t word = 0;
    std::memcpy(&word, p, n);
    fold(word ^ kMul);
  }
  return h;
}

}  // namespace

Labels Labels::from_sorted(std::span<const Label> sorted) {
  if (sorted.empty()) return {};
  size_t bytes = 0;
  for (const Label& label : sorted) bytes += label.name.size() + label.value.size();
  void* memory = ::operator new(sizeof(Rep) + sorted.size() * sizeof(Label) + bytes);
  Rep* rep = new (memory) Rep;
  rep->count = static_cast<uint32_t>(sorted.size());
  char* text = reinterpret_cast<char*>(rep->labels() + sorted.size());
  auto keep = [&text](std::string_view from) {
    if (!from.empty()) std::memcpy(text, from.data(), from.size());
    const std::string_view kept(text, from.size());
    text += from.size();
    return kept;
  };
  uint64_t hash = 0x2545F4914F6CDD1DULL;
  for (size_t i = 0; i < sorted.size(); ++i) {
    assert(i == 0 || sorted[i - 1].name < sorted[i].name);
    assert(!sorted[i].value.empty());
    new (rep->labels() + i) Label{keep(sorted[i].name), keep(sorted[i].value)};
    hash = mix(mix(hash, sorted[i].name), sorted[i].value);
  }
  rep->hash = hash;
  return Labels(rep);
}

Result<Labels> Labels::make(Pairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  std::vector<Label> sorted;
  sorted.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].first.empty()) return Status::invalid("empty label name");
    if (i > 0 && pairs[i].first == pairs[i - 1].first)
      return Status::invalid("label \"" + pairs[i].first + "\" occurs twice");
    if (!pairs[i].second.empty()) sorted.push_back({pairs[i].first, pairs[i].second});
  }
  return from_sorted(sorted);
}

Labels Labels::of(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs) {
  std::vector<Label> sorted;
  for (const auto& [name, value] : pairs)
    if (!value.empty()) sorted.push_back({name, value});
  std::sort(sorted.begin(), sorted.end());
  return from_sorted(sorted);
}

Labels Labels::from_map(const std::map<std::string, std::string>& map) {
  std::vector<Label> sorted;
  for (const auto& [name, value] : map)
    if (!value.empty()) sorted.push_back({name, value});
  return from_sorted(sorted);
}

Labels::Labels(const Labels& other) noexcept : rep_(other.rep_) {
  if (rep_ != nullptr) rep_->references.fetch_add(1, std::memory_order_relaxed);
}

Labels::~Labels() {
  if (rep_ == nullptr || rep_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  rep_->~Rep();
  ::operator delete(rep_);
}

std::span<const Label> Labels::items() const {
  if (rep_ == nullptr) return {};
  return {rep_->labels(), rep_->count};
}

std::string_view Labels::get(std::string_view name) const {
  // Label sets are small: a linear scan beats a binary search up to a dozen entries.
  for (const Label& label : items())
    if (label.name == name) return label.value;
  return {};
}

uint64_t Labels::hash() const { return rep_ == nullptr ? 0 : rep_->hash; }

uint64_t Labels::fingerprint() const {
  uint64_t h = 0xcbf29ce484222325ULL;
  auto add = [&h](unsigned char byte) { h = (h ^ byte) * 0x100000001b3ULL; };
  for (const Label& label : items()) {
    for (const char c : label.name) add(static_cast<unsigned char>(c));
    add(0xff);
    for (const char c : label.value) add(static_cast<unsigned char>(c));
    add(0xff);
  }
  return h;
}

std::map<std::string, std::string> Labels::to_map() const {
  std::map<std::string, std::string> map;
  for (const Label& label : items()) map.emplace(label.name, label.value);
  return map;
}

std::string Labels::to_string() const {
  std::string out;
  const std::string_view metric = get(kMetricName);
  const bool quoted_metric = !metric.empty() && !is_legacy_metric_name(metric);
  if (!quoted_metric) out = metric;
  std::string inside;
  if (quoted_metric) inside = quote(metric);
  for (const Label& label : items()) {
    if (label.name == kMetricName) continue;
    if (!inside.empty()) inside += ", ";
    inside += is_legacy_label_name(label.name) ? std::string(label.name) : quote(label.name);
    inside += '=';
    inside += quote(label.value);
  }
  if (inside.empty() && !out.empty()) return out;
  return out + "{" + inside + "}";
}

bool operator==(const Labels& a, const Labels& b) {
  if (a.rep_ == b.rep_) return true;
  if (a.hash() != b.hash()) return false;
  const auto x = a.items(), y = b.items();
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

std::strong_ordering operator<=>(const Labels& a, const Labels& b) {
  if (a.rep_ == b.rep_) return std::strong_ordering::equal;
  const auto x = a.items(), y = b.items();
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (const auto order = x[i].name <=> y[i].name; order != 0) return order;
    if (const auto order = x[i].value <=> y[i].value; order != 0) return order;
  }
  return x.size() <=> y.size();
}

LabelsBuilder::LabelsBuilder(const Labels& base) {
  items_.reserve(base.size() + 4);
  for (const Label& label : base.items()) items_.emplace_back(label.name, label.value);
}

LabelsBuilder& LabelsBuilder::set(std::string_view name, std::string_view value) {
  if (value.empty()) return erase(name);
  const auto at =
      std::lower_bound(items_.begin(), items_.end(), name,
                       [](const auto& item, std::string_view key) { return item.first < key; });
  if (at != items_.end() && at->first == name) {
    at->second = value;
  } else {
    items_.emplace(at, name, value);
  }
  return *this;
}

LabelsBuilder& LabelsBuilder::erase(std::string_view name) {
  std::erase_if(items_, [name](const auto& item) { return item.first == name; });
  return *this;
}

std::string_view LabelsBuilder::get(std::string_view name) const {
  for (const auto& [key, value] : items_)
    if (key == name) return value;
  return {};
}

Labels LabelsBuilder::build() const {
  std::vector<Label> sorted;
  sorted.reserve(items_.size());
  for (const auto& [name, value] : items_) sorted.push_back({name, value});
  return Labels::from_sorted(sorted);
}

}  // namespace vagt

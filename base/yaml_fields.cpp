#include <fmt/core.h>

#include <algorithm>

#include "base/yaml.h"

namespace vagt::base {
namespace {

Status wrong_shape(const YamlNode& node, std::string_view go_type) {
  if (node.is_scalar()) {
    const std::string& text = node.scalar();
    return node.error(fmt::format("line {}: cannot unmarshal !!str `{}` into {}", node.line(),
                                  text.size() > 10 ? text.substr(0, 7) + "..." : text, go_type));
  }
  return node.error(fmt::format("line {}: cannot unmarshal {} into {}", node.line(),
                                node.is_map() ? "!!map" : "!!seq", go_type));
}

Result<std::vector<std::string>> string_list(const YamlNode& node) {
  std::vector<std::string> out;
  if (node.is_null()) return out;
  if (!node.is_sequence()) return wrong_shape(node, "[]string");
  for (const YamlNode& item : node.items()) {
    VAGT_TRY(std::string text, item.as_string());
    out.push_back(std::move(text));
  }
  return out;
}

Result<std::map<std::string, std::string>> string_map(const YamlNode& node) {
  std::map<std::string, std::string> out;
  if (node.is_null()) return out;
  if (!node.is_map()) return wrong_shape(node, "map[string]string");
  for (const YamlNode::Entry& entry : node.entries()) {
    VAGT_TRY(std::string text, entry.value.as_string());
    out.insert_or_assign(entry.key, std::move(text));
  }
  return out;
}

Result<uint64_t> count_of(const YamlNode& node) {
  VAGT_TRY(const int64_t value, node.as_int());
  if (value < 0)
    return node.error(fmt::format("line {}: cannot unmarshal !!int `{}` into uint64", node.line(),
                                  node.scalar()));
  return static_cast<uint64_t>(value);
}

Result<Secret> secret_of(const YamlNode& node) {
  VAGT_TRY(std::string text, node.as_string());
  return Secret(std::move(text));
}

// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

}  // namespace

YamlFields::YamlFields(const YamlNode& node) : node_(node) {
  if (!node.is_map() && !node.is_null()) status_ = wrong_shape(node, "map");
}

const YamlNode* YamlFields::node_of(std::string_view key) { return node_.find(key); }

const YamlNode* YamlFields::take(std::string_view key) {
  known_.emplace(key);
  return node_of(key);
}

template <class T, class F>
YamlFields& YamlFields::read_with(std::string_view key, T& out, F convert) {
  const YamlNode* node = take(key);
  if (node == nullptr) return *this;
  Result<T> value = convert(*node);
  if (!value) return fail(std::move(value).error());
  out = std::move(value).value();
  return *this;
}

YamlFields& YamlFields::read(std::string_view key, std::string& out) {
  return read_with(key, out, [](const YamlNode& node) { return node.as_string(); });
}

YamlFields& YamlFields::read(std::string_view key, Secret& out) {
  return read_with(key, out, secret_of);
}

YamlFields& YamlFields::read(std::string_view key, bool& out) {
  return read_with(key, out, [](const YamlNode& node) { return node.as_bool(); });
}

YamlFields& YamlFields::read(std::string_view key, int64_t& out) {
  return read_with(key, out, [](const YamlNode& node) { return node.as_int(); });
}

YamlFields& YamlFields::read(std::string_view key, uint64_t& out) {
  return read_with(key, out, count_of);
}

YamlFields& YamlFields::read(std::string_view key, double& out) {
  return read_with(key, out, [](const YamlNode& node) { return node.as_double(); });
}

YamlFields& YamlFields::read(std::string_view key, Duration& out) {
  return read_with(key, out, [](const YamlNode& node) { return node.as_duration(); });
}

YamlFields& YamlFields::read(std::string_view key, std::vector<std::string>& out) {
  return read_with(key, out, string_list);
}

YamlFields& YamlFields::read(std::string_view key, std::map<std::string, std::string>& out) {
  return read_with(key, out, string_map);
}

YamlFields& YamlFields::read_bytes(std::string_view key, uint64_t& out) {
  return read_with(key, out, [](const YamlNode& node) { return node.as_bytes(); });
}

YamlFields& YamlFields::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
  return *this;
}

Status YamlFields::finish(std::string_view type_name) {
  if (!status_.ok()) return status_;
  for (const YamlNode::Entry& entry : node_.entries()) {
    if (known_.contains(entry.key)) continue;
    std::string message =
        fmt::format("{}:{}:{}: line {}: field {} not found in type {}", node_.file(), entry.line,
                    entry.column, entry.line, entry.key, type_name);
    const std::string near = nearest_word(entry.key, known_);
    if (!near.empty()) message += fmt::format("; did you mean {}?", near);
    return Status::invalid(std::move(message));
  }
  return {};
}

std::string nearest_word(std::string_view word, const std::set<std::string, std::less<>>& known) {
  std::string best;
  size_t best_distance = word.size() / 3 + 1;
  if (word.size() > 200) return best;  // nobody misspells that; the distance is quadratic
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

}  // namespace vagt::base

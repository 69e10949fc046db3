// What Prometheus refuses in a relabelling rule, in its words (model/relabel, Config.Validate).
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "scrape/relabel.h"

namespace vagt::scrape {
namespace {

constexpr std::array<std::string_view, 11> kNames = {
    "replace",  "keep",      "drop",      "keepequal", "dropequal", "hashmod",
    "labelmap", "labeldrop", "labelkeep", "lowercase", "uppercase"};

bool is_one_of(RelabelAction action, std::initializer_list<RelabelAction> actions) {
  return std::find(actions.begin(), actions.end(), action) != actions.end();
}

bool is_label_name(std::string_view name, NameScheme scheme) {
  return scheme == NameScheme::Legacy ? is_legacy_label_name(name) : is_utf8_name(name);
}

// A label name in which `$1`, `${1}` or `${name}` may stand.
bool is_label_template(std::string_view text, NameScheme scheme) {
  if (scheme == NameScheme::Utf8) return is_utf8_name(text);
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      plain += text[i];
      continue;
    }
    const bool braced = i + 1 < text.size() && text[i + 1] == '{';
    size_t end = i + (braced ? 2 : 1);
    const size_t name = end;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
      ++end;
    }
    if (end == name || (braced && (end == text.size() || text[end] != '}'))) return false;
    plain += 'x';
    i = braced ? end : end - 1;
  }
  return is_legacy_label_name(plain);
}

}  // namespace

std::string_view relabel_action_name(RelabelAction action) {
  return kNames[static_cast<size_t>(action)];
}

Result<RelabelAction> parse_relabel_action(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = std::find(kNames.begin(), kNames.end(), lower);
  if (found == kNames.end()) {
    return Status::invalid(fmt::format("unknown relabel action {}", quote(text)));
  }
  return static_cast<RelabelAction>(found - kNames.begin());
}

Status RelabelConfig::validate(NameScheme scheme) const {
  using enum RelabelAction;
  const RelabelConfig defaults;
  const std::string_view name = relabel_action_name(action);
  const auto invalid_target = [&] {
    return Status::invalid(
        fmt::format("{} is invalid 'target_label' for {} action", quote(target_label), name));
  };
  if (action == HashMod && modulus == 0) {
    return Status::invalid("relabel configuration for hashmod requires non-zero modulus");
  }
  if (is_one_of(action, {Replace, KeepEqual, DropEqual, HashMod, Lowercase, Uppercase}) &&
      target_label.empty()) {
    return Status::invalid(
        fmt::format("relabel configuration for {} action requires 'target_label' value", name));
  }
  if (action == Replace &&
      !(target_label.find('$') == std::string::npos ? is_label_name(target_label, scheme)
                                                    : is_label_template(target_label, scheme))) {
    return invalid_target();
  }
  if (is_one_of(action, {Lowercase, Uppercase, KeepEqual, DropEqual, HashMod}) &&
      !is_label_name(target_label, scheme)) {
    return invalid_target();
  }
  if (is_one_of(action, {Lowercase, Uppercase, KeepEqual, DropEqual}) &&
      replacement != defaults.replacement) {
    return Status::invalid(fmt::format("'replacement' can not be set for {} action", name));
  }
  if (action == LabelMap && !is_label_template(replacement, scheme)) {
    return Status::invalid(
        fmt::format("{} is invalid 'replacement' for {} action", quote(replacement), name));
  }
  const bool common_default = modulus == defaults.modulus && separator == defaults.separator &&
                              replacement == defaults.replacement;
  if (is_one_of(action, {KeepEqual, DropEqual}) && (!common_default || regex != defaults.regex)) {
    return Status::invalid(fmt::format(
        "{} action requires only 'source_labels' and `target_label`, and no other fields", name));
  }
  if (is_one_of(action, {LabelDrop, LabelKeep}) &&
      (!common_default || !source_labels.empty() || !target_label.empty())) {
    return Status::invalid(
        fmt::format("{} action requires only 'regex', and no other fields", name));
  }
  return {};
}

}  // namespace vagt::scrape

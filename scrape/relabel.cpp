#include "scrape/relabel.h"

#include <fmt/core.h>
#include <openssl/evp.h>
#include <wctype.h>

#include <clocale>
#include <optional>

namespace vagt::scrape {
namespace {

constexpr std::string_view kAnything = "(.*)";

std::string join_values(const RelabelConfig& config, const LabelsBuilder& labels) {
  std::string joined;
  for (size_t i = 0; i < config.source_labels.size(); ++i) {
    if (i != 0) joined += config.separator;
    joined += labels.get(config.source_labels[i]);
  }
  return joined;
}

// The last eight bytes of the MD5, big-endian: so shards agree with those of Prometheus.
uint64_t hash_for_modulus(std::string_view value) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(value.data(), value.size(), digest, &size, EVP_md5(), nullptr) != 1) return 0;
  uint64_t hash = 0;
  for (size_t i = 8; i < 16; ++i) hash = hash << 8 | digest[i];
  return hash;
}

// One code point at `text[i]`, advancing `i`; an invalid byte stands for itself.
char32_t take_code_point(std::string_view text, size_t& i) {
  const auto lead = static_cast<unsigned char>(text[i++]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  char32_t point = more == 0 ? lead : lead & (0x3Fu >> more);
  for (int k = 0; k < more && i < text.size(); ++k) {
    point = point << 6 | (static_cast<unsigned char>(text[i++]) & 0x3Fu);
  }
  return point;
}
void append_code_point(std::string& out, char32_t point) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | point >> 6), put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | point >> 12), put(0x80 | (point >> 6 & 0x3F)), put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | point >> 18), put(0x80 | (point >> 12 & 0x3F)), put(0x80 | (point >> 6 & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

std::string change_case(std::string_view text, bool upper) {
  // Immutable after construction; "C.UTF-8" is built into glibc.
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto point = static_cast<wint_t>(take_code_point(text, i));
    append_code_point(out, static_cast<char32_t>(upper ? towupper_l(point, unicode)
                                                       : towlower_l(point, unicode)));
  }
  return out;
}

}  // namespace

Result<Relabeler> Relabeler::compile(std::span<const RelabelConfig> rules, NameScheme scheme) {
  Relabeler compiled;
  compiled.scheme_ = scheme;
  for (const RelabelConfig& config : rules) {
    VAGT_CHECK_OK(config.validate(scheme));
    VAGT_TRY(Regex regex, Regex::compile(config.regex));
    const bool is_any = config.regex == kAnything;
    const bool is_constant = is_any && config.target_label.find('$') == std::string::npos &&
                             config.replacement.find('$') == std::string::npos;
    compiled.rules_.push_back(Rule{config, std::move(regex), is_constant, is_any});
  }
  return compiled;
}

bool Relabeler::apply(LabelsBuilder& labels) const {
  for (const Rule& rule : rules_) {
    if (!apply_rule(rule, labels)) return false;
  }
  return true;
}

bool Relabeler::apply_rule(const Rule& rule, LabelsBuilder& labels) const {
  const RelabelConfig& config = rule.config;
  switch (config.action) {
    case RelabelAction::Replace:
      replace(rule, join_values(config, labels), labels);
      return true;
    case RelabelAction::Keep:
      return rule.regex.matches(join_values(config, labels));
    case RelabelAction::Drop:
      return !rule.regex.matches(join_values(config, labels));
    case RelabelAction::KeepEqual:
      return labels.get(config.target_label) == join_values(config, labels);
    case RelabelAction::DropEqual:
      return labels.get(config.target_label) != join_values(config, labels);
    case RelabelAction::HashMod:
      labels.set(config.target_label,
                 fmt::format("{}", hash_for_modulus(join_values(config, labels)) % config.modulus));
      return true;
    case RelabelAction::LabelMap:
      for (const auto& [name, value] : std::vector(labels.items())) {
        if (rule.regex.matches(name))
          labels.set(rule.regex.replace_all(name, config.replacement), value);
      }
      return true;
    case RelabelAction::LabelDrop:
    case RelabelAction::LabelKeep:
      for (const auto& [name, value] : std::vector(labels.items())) {
        if (rule.regex.matches(name) == (config.action == RelabelAction::LabelDrop))
          labels.erase(name);
      }
      return true;
    case RelabelAction::Lowercase:
    case RelabelAction::Uppercase:
      labels.set(config.target_label, change_case(join_values(config, labels),
                                                  config.action == RelabelAction::Uppercase));
      return true;
  }
  return true;
}

void Relabeler::replace(const Rule& rule, std::string_view value, LabelsBuilder& labels) const {
  const RelabelConfig& config = rule.config;
  if (rule.is_constant) {
    labels.set(config.target_label, config.replacement);
    return;
  }
  const auto groups = rule.regex.groups(value);
  if (!groups) return;
  std::string target, replacement;
  rule.regex.expand(config.target_label, *groups, target);
  if (scheme_ == NameScheme::Legacy ? !is_legacy_label_name(target) : !is_utf8_name(target)) return;
  rule.regex.expand(config.replacement, *groups, replacement);
  labels.set(target, replacement);  // an empty one deletes
}

std::vector<std::pair<RelabelConfig, std::optional<Labels>>> Relabeler::steps(
    const Labels& labels) const {
  std::vector<std::pair<RelabelConfig, std::optional<Labels>>> steps;
  LabelsBuilder builder(labels);
  for (const Rule& rule : rules_) {
    const bool kept = apply_rule(rule, builder);
    steps.emplace_back(rule.config, kept ? std::optional(builder.build()) : std::nullopt);
    if (!kept) break;
  }
  return steps;
}

}  // namespace vagt::scrape

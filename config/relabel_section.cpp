#include <fmt/core.h>

#include "config/sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

Result<scrape::RelabelConfig> read_rule(const YamlNode& node, scrape::NameScheme scheme) {
  scrape::RelabelConfig rule;
  YamlFields fields(node);
  fields.read("source_labels", rule.source_labels).read("separator", rule.separator);
  fields.read("regex", rule.regex).read("modulus", rule.modulus);
  fields.read("target_label", rule.target_label).read("replacement", rule.replacement);
  if (const YamlNode* action = fields.take("action")) {
    if (action->is_null()) return action->error("relabel action cannot be empty");
    VAGT_TRY(const std::string text, action->as_string());
    auto parsed = scrape::parse_relabel_action(text);
    if (!parsed) return action->error(parsed.error().message());
    rule.action = *parsed;
  }
  VAGT_CHECK_OK(fields.finish("relabel.plain"));
  for (const std::string& name : rule.source_labels) {
    const bool valid =
        scheme == scrape::NameScheme::Legacy ? is_legacy_label_name(name) : is_utf8_name(name);
    if (!valid) return node.error(fmt::format("{} is not a valid label name", quote(name)));
  }
  if (const auto regex = Regex::compile(rule.regex); !regex) {
    const YamlNode* at = node.find("regex");
    std::string message = regex.error().message();
    // Prometheus's complaint, then RE2's reason.
    if (message.find("error parsing regexp") == std::string::npos)
      message = "error parsing regexp: " + message;
    return (at != nullptr ? *at : node).error(std::move(message));
  }
  if (const Status valid = rule.validate(scheme); !valid.ok()) return node.error(valid.message());
  return rule;
}

}  // namespace

Status read_relabel_configs(const YamlNode* node, scrape::NameScheme scheme,
                            std::string_view empty_message,
                            std::vector<scrape::RelabelConfig>& out) {
  if (node == nullptr || node->is_null()) return {};
  if (!node->is_sequence()) return node->error("expected a list of relabelling rules");
  for (const YamlNode& item : node->items()) {
    if (item.is_null()) return item.error(std::string(empty_message));
    VAGT_TRY(scrape::RelabelConfig rule, read_rule(item, scheme));
    out.push_back(std::move(rule));
  }
  return {};
}

}  // namespace vagt::config

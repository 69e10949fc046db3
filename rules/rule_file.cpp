#include "rules/rule_file.h"

#include <fmt/core.h>

#include <set>

#include "base/labels.h"
#include "base/yaml.h"
#include "rules/alert_template.h"

namespace vagt::rules {
namespace {

using base::YamlFields;
using base::YamlNode;

class Reader {
 public:
  explicit Reader(const RuleFileOptions& options) : options_(options) {}

  RuleFileResult run(const YamlNode& root, const std::string& path) {
    result_.file.path = path;
    YamlFields fields(root);
    const YamlNode* groups = fields.take("groups");
    finish(fields, "rulefmt.RuleGroups");
    if (groups != nullptr && !groups->is_null()) {
      if (groups->is_sequence()) {
        for (const YamlNode& node : groups->items()) read_group(node);
      } else {
        add(groups->error("groups: expected a list"));
      }
    }
    return std::move(result_);
  }

 private:
  void add(Status status) { result_.errors.push_back(std::move(status)); }
  void finish(YamlFields& fields, std::string_view type) {
    Status status = fields.finish(type);
    const bool unknown = status.message().find("not found in type") != std::string::npos;
    if (!status.ok() && !(unknown && options_.ignore_unknown_fields)) add(std::move(status));
  }

  void read_group(const YamlNode& node) {
    RuleGroup group;
    group.file = result_.file.path;
    group.where = {node.line(), node.column()};
    YamlFields fields(node);
    int64_t limit = 0;
    fields.read("name", group.name)
        .read("interval", group.interval)
        .read("query_offset", group.query_offset)
        .read("limit", limit);
    const YamlNode* labels = fields.take("labels");
    const YamlNode* rules = fields.take("rules");
    finish(fields, "rulefmt.RuleGroup");
    group.limit = limit > 0 ? static_cast<size_t>(limit) : 0;
    if (group.interval && group.interval->count() == 0) group.interval.reset();
    if (group.name.empty()) {
      add(node.error("Groupname must not be empty"));
    } else if (!names_.insert(group.name).second) {
      add(node.error(fmt::format("groupname: {} is repeated in the same file", quote(group.name))));
    }
    if (labels != nullptr) {
      read_texts(
          *labels, group.labels,
          [&](const YamlNode&, const std::string& name, const std::string& value) {
            return check_label(name, value);
          },
          fmt::format("group {}", quote(group.name)));
    }
    read_rules(rules, group);
    result_.file.groups.push_back(std::move(group));
  }

  void read_rules(const YamlNode* rules, RuleGroup& group) {
    if (rules == nullptr || rules->is_null()) return;
    if (!rules->is_sequence()) return add(rules->error("rules: expected a list"));
    size_t number = 0;
    for (const YamlNode& node : rules->items()) read_rule(node, group, ++number);
  }

  struct Parts {
    std::optional<std::string> record, alert, expr;
    std::optional<Duration> hold_for, keep_firing_for;
    const YamlNode* record_node = nullptr;
    const YamlNode* expr_node = nullptr;
    const YamlNode* labels = nullptr;
    const YamlNode* annotations = nullptr;
  };

  void read_rule(const YamlNode& node, RuleGroup& group, size_t number) {
    Parts p;
    YamlFields fields(node);
    fields.read("record", p.record).read("alert", p.alert).read("expr", p.expr);
    fields.read("for", p.hold_for).read("keep_firing_for", p.keep_firing_for);
    p.labels = fields.take("labels");
    p.annotations = fields.take("annotations");
    const size_t errors_before = result_.errors.size();
    finish(fields, "rulefmt.Rule");
    if (result_.errors.size() != errors_before && !fields.ok()) return;
    if (node.is_map()) p.record_node = node.find("record"), p.expr_node = node.find("expr");
    const std::string name = p.record.value_or("").empty() ? p.alert.value_or("") : *p.record;
    const std::string place =
        fmt::format("group {}, rule {}, {}", quote(group.name), number, quote(name));
    const auto fail = [&](const YamlNode& at, std::string message) {
      add(at.error(place + ": " + std::move(message)));
    };

    const bool records = !p.record.value_or("").empty(), alerts = !p.alert.value_or("").empty();
    if (records && alerts) fail(node, "only one of 'record' and 'alert' must be set");
    if (!records && !alerts) fail(node, "one of 'record' or 'alert' must be set");
    query::ExprPtr expr;
    if (p.expr.value_or("").empty()) {
      fail(node, "field 'expr' must be set in rule");
    } else {
      Result<query::ExprPtr> parsed = query::parse_expr(*p.expr, options_.parse);
      if (parsed) {
        expr = std::move(*parsed);
      } else {
        fail(*p.expr_node, "could not parse expression: " + parsed.error().message());
      }
    }
    if (records) check_record(p, fail);
    const RulePosition where{node.line(), node.column()};
    const std::string alert_name = alerts && !records ? name : "";
    TextMap labels = group.labels, annotations;
    read_rule_texts(p, place, alert_name, labels, annotations);
    if (!expr) return;
    if (alerts) {
      group.rules.push_back(AlertRule{name, std::move(expr), p.hold_for.value_or(Duration{}),
                                      p.keep_firing_for.value_or(Duration{}), std::move(labels),
                                      std::move(annotations), where});
    } else if (records) {
      group.rules.push_back(RecordRule{name, std::move(expr), std::move(labels), where});
    }
  }

  template <class Fail>
  void check_record(const Parts& p, const Fail& fail) {
    const YamlNode& at = *p.record_node;
    if (p.annotations != nullptr && !p.annotations->entries().empty()) {
      fail(at, "invalid field 'annotations' in recording rule");
    }
    if (p.hold_for && p.hold_for->count() != 0) fail(at, "invalid field 'for' in recording rule");
    if (p.keep_firing_for && p.keep_firing_for->count() != 0) {
      fail(at, "invalid field 'keep_firing_for' in recording rule");
    }
    if (!is_utf8_name(*p.record)) fail(at, "invalid recording rule name: " + *p.record);
    if (p.record->find_first_of("{}") != std::string::npos) {
      fail(at, "braces present in the recording rule name; should it be in expr?: " + *p.record);
    }
  }

  static std::string check_label(const std::string& name, const std::string& value) {
    if (!is_utf8_name(name) || name == kMetricName) return "invalid label name: " + name;
    return is_valid_utf8(value) ? "" : "invalid label value: " + value;
  }

  void read_rule_texts(const Parts& p, const std::string& place, const std::string& alert,
                       TextMap& labels, TextMap& annotations) {
    const auto check_template = [&](std::string_view what, const std::string& name,
                                    const std::string& text) {
      if (alert.empty()) return std::string();
      const Status status = templates_.check(alert, text);
      return status.ok() ? std::string()
                         : fmt::format("{} {}: {}", what, quote(name), status.message());
    };
    if (p.labels != nullptr) {
      read_texts(
          *p.labels, labels,
          [&](const YamlNode&, const std::string& name, const std::string& value) {
            std::string error = check_label(name, value);
            return error.empty() ? check_template("label", name, value) : error;
          },
          place);
    }
    if (p.annotations != nullptr) {
      read_texts(
          *p.annotations, annotations,
          [&](const YamlNode&, const std::string& name, const std::string& value) {
            if (!is_utf8_name(name)) return "invalid annotation name: " + name;
            return check_template("annotation", name, value);
          },
          place);
    }
  }

  template <class Check>
  void read_texts(const YamlNode& node, TextMap& out, const Check& check,
                  const std::string& place) {
    if (node.is_null()) return;
    if (!node.is_map()) return add(node.error(place + ": expected a map of texts"));
    for (const YamlNode::Entry& entry : node.entries()) {
      Result<std::string> text =
          entry.value.is_null() ? Result<std::string>(std::string()) : entry.value.as_string();
      if (!text) {
        add(std::move(text).error());
        continue;
      }
      const std::string error = check(entry.value, entry.key, *text);
      if (!error.empty()) add(entry.value.error(place + ": " + error));
      out[entry.key] = std::move(*text);
    }
  }

  const RuleFileOptions& options_;
  const AlertTemplates templates_{AlertTemplates::Options{}};
  RuleFileResult result_;
  std::set<std::string> names_;
};

RuleFileResult failed(const std::string& path, Status status) {
  RuleFileResult result;
  result.file.path = path;
  result.errors.push_back(std::move(status));
  return result;
}

RuleFileResult from_node(const Result<YamlNode>& node, const std::string& path,
                         const RuleFileOptions& options) {
  if (!node) return failed(path, node.error());
  if (!node->is_null() && !node->is_map())
    return failed(path, node->error("expected a map with the key groups"));
  return Reader(options).run(*node, path);
}

}  // namespace

RuleFileResult parse_rule_file(std::string_view text, const std::string& path,
                               const RuleFileOptions& options) {
  return from_node(base::parse_yaml(text, path), path, options);
}

RuleFileResult read_rule_file(const std::string& path, const RuleFileOptions& options) {
  return from_node(base::load_yaml_file(path), path, options);
}

Result<RuleFile> load_rule_file(const std::string& path, const RuleFileOptions& options) {
  RuleFileResult result = read_rule_file(path, options);
  if (result.errors.empty()) return std::move(result.file);
  std::string all;
  for (const Status& status : result.errors) all += (all.empty() ? "" : "\n") + status.message();
  return Status::invalid(std::move(all));
}

}  // namespace vagt::rules

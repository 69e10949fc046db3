#include "rules/test_file.h"

#include <fmt/core.h>
#include <glob.h>

#include <filesystem>
#include <set>

#include "base/number_text.h"
#include "base/yaml.h"

namespace vagt::rules {
namespace {

using base::YamlFields;
using base::YamlNode;

class Loader {
 public:
  explicit Loader(bool ignore_unknown) : ignore_unknown_(ignore_unknown) {}

  Status finish(YamlFields& fields, std::string_view type) const {
    Status status = fields.finish(type);
    if (ignore_unknown_ && status.message().find("not found in type") != std::string::npos)
      return {};
    return status;
  }

  template <class F>
  static Status each(const YamlNode* list, F read) {
    if (list == nullptr || list->is_null()) return {};
    if (!list->is_sequence()) return list->error("expected a list");
    for (const YamlNode& node : list->items()) VAGT_CHECK_OK(read(node));
    return {};
  }

  Status read_alert(const YamlNode& node, AlertTest& test) const {
    YamlFields fields(node);
    fields.read("eval_time", test.eval_time).read("alertname", test.alertname);
    const YamlNode* alerts = fields.take("exp_alerts");
    VAGT_CHECK_OK(finish(fields, "main.alertTestCase"));
    return each(alerts, [&](const YamlNode& item) {
      ExpectedAlert& alert = test.expected.emplace_back();
      YamlFields f(item);
      f.read("exp_labels", alert.labels).read("exp_annotations", alert.annotations);
      return finish(f, "main.alert");
    });
  }

  Status read_expr(const YamlNode& node, ExprTest& test) const {
    YamlFields fields(node);
    fields.read("expr", test.expr).read("eval_time", test.eval_time);
    const YamlNode* samples = fields.take("exp_samples");
    VAGT_CHECK_OK(finish(fields, "main.promqlTestCase"));
    return each(samples, [&](const YamlNode& item) {
      ExpectedSample& sample = test.expected.emplace_back();
      YamlFields f(item);
      f.read("labels", sample.labels)
          .read("value", sample.value)
          .read("histogram", sample.histogram);
      return finish(f, "main.sample");
    });
  }

  static Status read_start(const YamlNode* node, Timestamp& out) {
    if (node == nullptr || node->is_null()) return {};
    if (const auto seconds = parse_float(node->scalar())) {
      out = from_millis(static_cast<int64_t>(*seconds * 1000));
      return {};
    }
    Result<Timestamp> t = parse_rfc3339(node->scalar());
    if (!t)
      return node->error("start_timestamp: expected RFC 3339 or seconds since 1970, got " +
                         quote(node->scalar()));
    out = *t;
    return {};
  }

  Status read_group(const YamlNode& node, TestGroup& test) const {
    YamlFields fields(node);
    fields.read("name", test.name)
        .read("interval", test.interval)
        .read("external_labels", test.external_labels)
        .read("external_url", test.external_url);
    const YamlNode* start = fields.take("start_timestamp");
    const YamlNode* input = fields.take("input_series");
    const YamlNode* alerts = fields.take("alert_rule_test");
    const YamlNode* exprs = fields.take("promql_expr_test");
    VAGT_CHECK_OK(finish(fields, "main.testGroup"));
    VAGT_CHECK_OK(read_start(start, test.start));
    VAGT_CHECK_OK(each(input, [&](const YamlNode& item) {
      auto& [series, values] = test.input.emplace_back();
      YamlFields f(item);
      f.read("series", series).read("values", values);
      return finish(f, "main.series");
    }));
    VAGT_CHECK_OK(each(alerts, [&](const YamlNode& item) {
      return read_alert(item, test.alert_tests.emplace_back());
    }));
    return each(exprs, [&](const YamlNode& item) {
      return read_expr(item, test.expr_tests.emplace_back());
    });
  }

 private:
  bool ignore_unknown_;
};

// Relative to the test file; a pattern stands for what it matches, a plain name for itself.
std::vector<std::string> resolve(const std::string& base,
                                 const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  for (const std::string& pattern : patterns) {
    const std::filesystem::path path(pattern);
    const std::string full =
        path.is_absolute() ? pattern : (std::filesystem::path(base).parent_path() / path).string();
    glob_t found{};
    if (glob(full.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
    } else {
      out.push_back(full);
    }
    globfree(&found);
  }
  return out;
}

}  // namespace

Result<TestFile> load_test_file(const std::string& path, bool ignore_unknown_fields) {
  VAGT_TRY(const YamlNode root, base::load_yaml_file(path));
  const Loader loader(ignore_unknown_fields);
  TestFile file;
  YamlFields fields(root);
  Duration interval{};
  fields.read("rule_files", file.rule_files)
      .read("evaluation_interval", interval)
      .read("group_eval_order", file.group_eval_order)
      .read("fuzzy_compare", file.fuzzy_compare);
  const YamlNode* tests = fields.take("tests");
  VAGT_CHECK_OK(loader.finish(fields, "main.unitTestFile"));
  VAGT_CHECK_OK(Loader::each(tests, [&](const YamlNode& node) {
    return loader.read_group(node, file.tests.emplace_back());
  }));
  if (interval.count() > 0) file.evaluation_interval = interval;
  std::set<std::string> order;
  for (const std::string& name : file.group_eval_order) {
    if (!order.insert(name).second)
      return Status::invalid("group name repeated in evaluation order: " + name);
  }
  for (TestGroup& test : file.tests) {
    if (test.interval.count() == 0) test.interval = file.evaluation_interval;
  }
  file.rule_files = resolve(path, file.rule_files);
  return file;
}

}  // namespace vagt::rules

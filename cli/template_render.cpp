#include "cli/template_render.h"

#include <fstream>
#include <iterator>
#include <ostream>

#include "notify/renderer.h"
#include "notify/template_data.h"

namespace vagt::cli {
namespace {

using notify::TemplateData;

TemplateData::AlertData example_alert(TemplateData::Kv labels, TemplateData::Kv annotations,
                                      Timestamp start, Timestamp end, const char* fingerprint) {
  TemplateData::AlertData alert;
  alert.status = "alertstatus";
  alert.labels = std::move(labels);
  alert.annotations = std::move(annotations);
  for (const char* n : {"1", "2"}) {
    alert.labels[std::string("commonlabelkey") + n] = std::string("commonlabelvalue") + n;
    alert.annotations[std::string("commonannotationkey") + n] =
        std::string("commonannotationvalue") + n;
  }
  alert.starts_at = tmpl::GoTime::from(start);
  alert.ends_at = tmpl::GoTime::from(end);
  alert.generator_url = "https://generatorurl.com";
  alert.fingerprint = fingerprint;
  return alert;
}

// The same alerts that amtool makes up when it is given none.
TemplateData example_data(Timestamp now) {
  using std::chrono::minutes;
  TemplateData data;
  data.receiver = "receiver";
  data.status = "alertstatus";
  data.external_url = "https://example.com";
  data.alerts.push_back(
      example_alert({{"label1", "value1"}, {"label2", "value2"}, {"instance", "foo.bar:1234"}},
                    {{"annotation1", "value1"}, {"annotation2", "value2"}}, now - minutes(5), now,
                    "fingerprint1"));
  data.alerts.push_back(example_alert({{"foo", "bar"}, {"baz", "qux"}},
                                      {{"aaa", "bbb"}, {"ccc", "ddd"}}, now - minutes(10), now,
                                      "fingerprint2"));
  data.group_labels = {{"grouplabelkey1", "grouplabelvalue1"},
                       {"grouplabelkey2", "grouplabelvalue2"}};
  data.common_labels = {{"alertname", "AlertNameExample"},
                        {"service", "FooService"},
                        {"commonlabelkey1", "commonlabelvalue1"},
                        {"commonlabelkey2", "commonlabelvalue2"}};
  data.common_annotations = {{"commonannotationkey1", "commonannotationvalue1"},
                             {"commonannotationkey2", "commonannotationvalue2"}};
  return data;
}

Result<TemplateData> load_data(const Context& context, const std::string& path) {
  if (path.empty()) return example_data(context.clock.now());
  std::ifstream file(path);
  if (!file) return Status::io("open " + path + ": no such file, or not readable");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return notify::parse_template_data(text);
}

Result<std::string> run(const Context& context, const TemplateRender& render) {
  if (render.type != "text" && render.type != "html") {
    return Status::invalid("enum value must be one of text,html, got '" + render.type + "'");
  }
  VAGT_TRY(const auto library, notify::TemplateLibrary::load(render.globs));
  VAGT_TRY(const TemplateData data, load_data(context, render.data_file));
  const auto route_label = [&data](const std::string& name) -> Result<std::string> {
    const auto found = data.route_labels.find(name);
    return found == data.route_labels.end() ? std::string() : found->second;
  };
  const auto escape = render.type == "html" ? tmpl::Escape::Html : tmpl::Escape::None;
  return library->run(render.text, data.to_value(), route_label, escape);
}

}  // namespace

int template_render(Context& context, const TemplateRender& render) {
  const auto text = run(context, render);
  if (!text) return context.fail(text.error());
  context.out << *text;
  return kSuccess;
}

}  // namespace vagt::cli

#include "rules/alert_template.h"

#include <fmt/core.h>

namespace vagt::rules {
namespace {

using tmpl::TemplateObject;
using tmpl::TemplateValue;
using Args = std::span<const TemplateValue>;

// A label set as Go's map[string]string, without building one until somebody ranges over it.
class LabelMap final : public TemplateObject {
 public:
  explicit LabelMap(Labels labels) : labels_(std::move(labels)) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    return std::make_unique<TemplateValue>(std::string(labels_.get(name)));
  }
  Result<TemplateValue> call(std::string_view name, Args) const override {
    return Status::not_found(std::string(name));
  }
  std::string type_name() const override { return "map[string]string"; }
  std::string print() const override {
    std::string out = "map[";
    for (const Label& label : labels_.items()) {
      if (out.size() > 4) out.push_back(' ');
      out.append(label.name).append(":").append(label.value);
    }
    return out + "]";
  }
  bool truthy() const override { return !labels_.empty(); }
  const tmpl::ValueMap* as_map() const override {
    if (!map_) {
      map_.emplace();
      for (const Label& label : labels_.items())
        map_->emplace(label.name, std::string(label.value));
    }
    return &*map_;
  }

 private:
  Labels labels_;
  mutable std::optional<tmpl::ValueMap> map_;  // one thread at a time
};

TemplateValue label_map(const Labels& labels) {
  return TemplateValue(std::shared_ptr<const TemplateObject>(std::make_shared<LabelMap>(labels)));
}

// What `.` is in an annotation.
class AlertData final : public TemplateObject {
 public:
  AlertData(const Labels& labels, const TemplateValue& external_labels,
            const std::string& external_url, double value)
      : labels_(labels),
        external_labels_(external_labels),
        external_url_(external_url),
        value_(value) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "Labels") return std::make_unique<TemplateValue>(label_map(labels_));
    if (name == "Value") return std::make_unique<TemplateValue>(value_);
    if (name == "ExternalLabels") return std::make_unique<TemplateValue>(external_labels_);
    if (name == "ExternalURL") return std::make_unique<TemplateValue>(external_url_);
    return nullptr;
  }
  Result<TemplateValue> call(std::string_view name, Args) const override {
    return Status::not_found(std::string(name));
  }
  std::string type_name() const override {
    return "struct { Labels; ExternalLabels; ExternalURL; Value }";
  }
  std::string print() const override { return "{" + LabelMap(labels_).print() + "}"; }

 private:
  const Labels& labels_;
  const TemplateValue& external_labels_;
  const std::string& external_url_;
  double value_;
};

// One element of what `query` gives.
class QuerySample final : public TemplateObject {
 public:
  QuerySample(Labels labels, double value) : labels_(std::move(labels)), value_(value) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "Labels") return std::make_unique<TemplateValue>(label_map(labels_));
    if (name == "Value") return std::make_unique<TemplateValue>(value_);
    return nullptr;
  }
  Result<TemplateValue> call(std::string_view name, Args) const override {
    return Status::not_found(std::string(name));
  }
  std::string type_name() const override { return "*template.sample"; }
  std::string print() const override { return "{" + LabelMap(labels_).print() + "}"; }

 private:
  Labels labels_;
  double value_;
};

std::string url_path(const std::string& url) {
  const size_t scheme = url.find("://");
  const size_t slash = scheme == std::string::npos ? url.find('/') : url.find('/', scheme + 3);
  return slash == std::string::npos ? "" : url.substr(slash);
}

Status no_arguments(std::string_view name, Args args) {
  if (args.empty()) return {};
  return Status::invalid(
      fmt::format("wrong number of args for {}: want 0 got {}", name, args.size()));
}

}  // namespace

struct AlertTemplates::State {
  Options options;
  Timestamp at{};
  TemplateValue external_labels = label_map({});
  tmpl::TemplateSet set;

  explicit State(Options given) : options(std::move(given)), set(functions()) {
    set.declare({{"$labels", "Labels"},
                 {"$externalLabels", "ExternalLabels"},
                 {"$externalURL", "ExternalURL"},
                 {"$value", "Value"}});
  }

  Result<TemplateValue> run_query(Args args) const {
    const auto* text = args.size() == 1 ? std::get_if<std::string>(&args[0].storage()) : nullptr;
    if (text == nullptr)
      return Status::invalid(
          fmt::format("wrong number of args for query: want 1 got {}", args.size()));
    if (!options.query) return Status::invalid("queries cannot be run here");
    VAGT_TRY(const query::Vector vector, options.query(*text, at));
    tmpl::ValueList list;
    for (const query::VectorSample& sample : vector) {
      list.push_back(TemplateValue(std::shared_ptr<const TemplateObject>(
          std::make_shared<QuerySample>(sample.labels, sample.v))));
    }
    return TemplateValue(std::move(list));
  }

  tmpl::FunctionTable functions() {
    tmpl::FunctionTable table = tmpl::prometheus_functions();
    table["query"] = [this](Args args) { return run_query(args); };
    table["externalURL"] = [this](Args args) -> Result<TemplateValue> {
      VAGT_CHECK_OK(no_arguments("externalURL", args));
      return TemplateValue(options.external_url);
    };
    table["pathPrefix"] = [this](Args args) -> Result<TemplateValue> {
      VAGT_CHECK_OK(no_arguments("pathPrefix", args));
      return TemplateValue(url_path(options.external_url));
    };
    table["now"] = [this](Args args) -> Result<TemplateValue> {
      VAGT_CHECK_OK(no_arguments("now", args));
      return TemplateValue(to_seconds(at));
    };
    return table;
  }
};

AlertTemplates::AlertTemplates(Options options)
    : state_(std::make_unique<State>(std::move(options))) {}
AlertTemplates::~AlertTemplates() = default;

void AlertTemplates::begin(Timestamp at, const Labels& external_labels) {
  state_->at = at;
  state_->external_labels = label_map(external_labels);
}

std::string AlertTemplates::expand(std::string_view alert, const std::string& text,
                                   const Labels& labels, double value, Status* error) const {
  if (text.find("{{") == std::string::npos) return text;
  const TemplateValue data(std::shared_ptr<const TemplateObject>(std::make_shared<AlertData>(
      labels, state_->external_labels, state_->options.external_url, value)));
  const std::string name = fmt::format("__alert_{}", alert);
  tmpl::RenderOptions options;
  options.limits.max_output_bytes = state_->options.max_output_bytes;
  options.name = name;
  Result<std::string> out = state_->set.render(text, data, options);
  if (out) return std::move(*out);
  if (error != nullptr) *error = out.error();
  return fmt::format("<error expanding template: error executing template {}: {}>", name,
                     out.error().message());
}

Status AlertTemplates::check(std::string_view alert, const std::string& text) const {
  if (text.find("{{") == std::string::npos) return {};
  return state_->set.check_syntax(text, fmt::format("__alert_{}", alert));
}

}  // namespace vagt::rules

#include "notify/template_data.h"

#include <algorithm>

#include "base/json_writer.h"

namespace vagt::notify {
namespace {

using tmpl::TemplateObject;
using tmpl::TemplateValue;
using tmpl::ValueList;
using tmpl::ValueMap;
using Kv = TemplateData::Kv;

std::unique_ptr<TemplateValue> boxed(TemplateValue value) {
  return std::make_unique<TemplateValue>(std::move(value));
}

template <class T, class... Args>
TemplateValue object(Args&&... args) {
  return TemplateValue(
      std::shared_ptr<const TemplateObject>(std::make_shared<T>(std::forward<Args>(args)...)));
}

Result<TemplateValue> no_method(std::string_view type, std::string_view name) {
  return Status::not_found("can't evaluate field " + std::string(name) + " in type " +
                           std::string(type));
}

// A list of strings that can be joined: Names() and Values().
class Strings final : public TemplateObject {
 public:
  explicit Strings(std::vector<std::string> items) : items_(std::move(items)) {
    for (const std::string& item : items_) list_.emplace_back(item);
  }
  std::unique_ptr<TemplateValue> field(std::string_view) const override { return nullptr; }
  Result<TemplateValue> call(std::string_view name,
                             std::span<const TemplateValue> args) const override {
    if (name != "Join") return no_method(type_name(), name);
    const auto* separator =
        args.size() == 1 ? std::get_if<std::string>(&args[0].storage()) : nullptr;
    if (separator == nullptr) return Status::invalid("Join wants one string");
    std::string out;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (i > 0) out += *separator;
      out += items_[i];
    }
    return TemplateValue(std::move(out));
  }
  std::string type_name() const override { return "template.Strings"; }
  std::string print() const override {
    std::string out = "[";
    for (size_t i = 0; i < items_.size(); ++i) out.append(i > 0 ? " " : "").append(items_[i]);
    return out + "]";
  }
  bool truthy() const override { return !items_.empty(); }
  const ValueList* as_list() const override { return &list_; }

 private:
  std::vector<std::string> items_;
  ValueList list_;
};

class Pair final : public TemplateObject {
 public:
  Pair(std::string name, std::string value) : name_(std::move(name)), value_(std::move(value)) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "Name") return boxed(name_);
    if (name == "Value") return boxed(value_);
    return nullptr;
  }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return no_method(type_name(), name);
  }
  std::string type_name() const override { return "template.Pair"; }
  std::string print() const override { return "{" + name_ + " " + value_ + "}"; }

 private:
  std::string name_, value_;
};

using PairList = std::vector<std::pair<std::string, std::string>>;

std::string pairs_text(const PairList& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!out.empty()) out += ", ";
    out.append(name).append("=").append(value);
  }
  return out;
}

std::vector<std::string> firsts(const PairList& pairs) {
  std::vector<std::string> out;
  for (const auto& pair : pairs) out.push_back(pair.first);
  return out;
}
std::vector<std::string> seconds(const PairList& pairs) {
  std::vector<std::string> out;
  for (const auto& pair : pairs) out.push_back(pair.second);
  return out;
}

class Pairs final : public TemplateObject {
 public:
  explicit Pairs(PairList pairs) : pairs_(std::move(pairs)) {
    for (const auto& [name, value] : pairs_) list_.push_back(object<Pair>(name, value));
  }
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "Names") return boxed(object<Strings>(firsts(pairs_)));
    if (name == "Values") return boxed(object<Strings>(seconds(pairs_)));
    if (name == "String") return boxed(print());
    return nullptr;
  }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return no_method(type_name(), name);
  }
  std::string type_name() const override { return "template.Pairs"; }
  std::string print() const override { return pairs_text(pairs_); }
  bool truthy() const override { return !pairs_.empty(); }
  const ValueList* as_list() const override { return &list_; }

 private:
  PairList pairs_;
  ValueList list_;
};

// alertname first, then by name.
PairList sorted_pairs(const Kv& map) {
  PairList out;
  if (const auto it = map.find("alertname"); it != map.end()) out.push_back(*it);
  for (const auto& pair : map) {
    if (pair.first != "alertname") out.push_back(pair);
  }
  return out;
}

class KvObject final : public TemplateObject {
 public:
  explicit KvObject(const Kv& map) : map_(map) {
    for (const auto& [name, value] : map_) values_.emplace(name, TemplateValue(value));
  }
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "SortedPairs") return boxed(object<Pairs>(sorted_pairs(map_)));
    if (name == "Names") return boxed(object<Strings>(firsts(sorted_pairs(map_))));
    if (name == "Values") return boxed(object<Strings>(seconds(sorted_pairs(map_))));
    if (name == "String") return boxed(print());
    const auto it = map_.find(std::string(name));
    return boxed(it == map_.end() ? std::string() : it->second);
  }
  Result<TemplateValue> call(std::string_view name,
                             std::span<const TemplateValue> args) const override {
    if (name != "Remove" || args.size() != 1) return no_method(type_name(), name);
    const ValueList* names = list_of(args[0]);
    if (names == nullptr) return Status::invalid("Remove wants a list of names");
    Kv left = map_;
    for (const TemplateValue& item : *names) {
      if (const auto* text = std::get_if<std::string>(&item.storage())) left.erase(*text);
    }
    return object<KvObject>(left);
  }
  std::string type_name() const override { return "template.KV"; }
  std::string print() const override { return pairs_text(sorted_pairs(map_)); }
  bool truthy() const override { return !map_.empty(); }
  const ValueMap* as_map() const override { return &values_; }

 private:
  static const ValueList* list_of(const TemplateValue& value) {
    if (const auto* list = std::get_if<std::shared_ptr<const ValueList>>(&value.storage())) {
      return list->get();
    }
    const auto* held = std::get_if<std::shared_ptr<const TemplateObject>>(&value.storage());
    return held == nullptr ? nullptr : (*held)->as_list();
  }
  Kv map_;
  ValueMap values_;
};

class AlertObject final : public TemplateObject {
 public:
  explicit AlertObject(const TemplateData::AlertData& alert) : alert_(alert) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "Status") return boxed(alert_.status);
    if (name == "Labels") return boxed(object<KvObject>(alert_.labels));
    if (name == "Annotations") return boxed(object<KvObject>(alert_.annotations));
    if (name == "StartsAt") return boxed(tmpl::make_time(alert_.starts_at));
    if (name == "EndsAt") return boxed(tmpl::make_time(alert_.ends_at));
    if (name == "GeneratorURL") return boxed(alert_.generator_url);
    if (name == "Fingerprint") return boxed(alert_.fingerprint);
    return nullptr;
  }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return no_method(type_name(), name);
  }
  std::string type_name() const override { return "template.Alert"; }
  std::string print() const override {
    return "{" + alert_.status + " " + pairs_text(sorted_pairs(alert_.labels)) + " " +
           pairs_text(sorted_pairs(alert_.annotations)) + " " + alert_.starts_at.to_string() + " " +
           alert_.ends_at.to_string() + " " + alert_.generator_url + " " + alert_.fingerprint + "}";
  }
  std::optional<std::string> to_json() const override {
    std::string out;
    base::JsonWriter w(out);
    w.begin_object().key("status").string(alert_.status);
    for (const auto* map : {&alert_.labels, &alert_.annotations}) {
      w.key(map == &alert_.labels ? "labels" : "annotations").begin_object();
      for (const auto& [name, value] : *map) w.key(name).string(value);
      w.end_object();
    }
    w.key("startsAt").string(alert_.starts_at.to_rfc3339());
    w.key("endsAt").string(alert_.ends_at.to_rfc3339());
    w.key("generatorURL").string(alert_.generator_url);
    w.key("fingerprint").string(alert_.fingerprint).end_object();
    return out;
  }

 private:
  TemplateData::AlertData alert_;
};

class AlertsObject final : public TemplateObject {
 public:
  explicit AlertsObject(std::vector<TemplateData::AlertData> alerts) : alerts_(std::move(alerts)) {
    for (const auto& alert : alerts_) list_.push_back(object<AlertObject>(alert));
  }
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "Firing") return boxed(with_status("firing"));
    if (name == "Resolved") return boxed(with_status("resolved"));
    return nullptr;
  }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return no_method(type_name(), name);
  }
  std::string type_name() const override { return "template.Alerts"; }
  std::string print() const override {
    std::string out = "[";
    for (const auto& alert : alerts_) {
      out.append(out.size() > 1 ? " " : "").append(AlertObject(alert).print());
    }
    return out + "]";
  }
  bool truthy() const override { return !alerts_.empty(); }
  const ValueList* as_list() const override { return &list_; }

 private:
  TemplateValue with_status(std::string_view status) const {
    std::vector<TemplateData::AlertData> out;
    for (const auto& alert : alerts_) {
      if (alert.status == status) out.push_back(alert);
    }
    return object<AlertsObject>(std::move(out));
  }
  std::vector<TemplateData::AlertData> alerts_;
  ValueList list_;
};

class DataObject final : public TemplateObject {
 public:
  explicit DataObject(TemplateData data)
      : data_(std::move(data)), alerts_(object<AlertsObject>(data_.alerts)) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    if (name == "Receiver") return boxed(data_.receiver);
    if (name == "Status") return boxed(data_.status);
    if (name == "Alerts") return boxed(alerts_);
    if (name == "GroupLabels") return boxed(object<KvObject>(data_.group_labels));
    if (name == "CommonLabels") return boxed(object<KvObject>(data_.common_labels));
    if (name == "CommonAnnotations") return boxed(object<KvObject>(data_.common_annotations));
    if (name == "RouteLabels") return boxed(object<KvObject>(data_.route_labels));
    if (name == "ExternalURL") return boxed(data_.external_url);
    if (name == "NotificationReason") return boxed(data_.notification_reason);
    return nullptr;
  }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return no_method(type_name(), name);
  }
  std::string type_name() const override { return "*template.Data"; }
  std::string print() const override {
    return "{" + data_.receiver + " " + data_.status + " " + std::to_string(data_.alerts.size()) +
           " alerts " + data_.external_url + "}";
  }

 private:
  TemplateData data_;
  TemplateValue alerts_;
};

}  // namespace

tmpl::TemplateValue TemplateData::to_value() const { return object<DataObject>(*this); }

TemplateData template_data(const Notification& n) {
  TemplateData data;
  data.receiver = quote_regex(n.receiver);
  data.status = n.status();
  data.external_url = n.external_url;
  data.notification_reason = n.reason_text();
  data.group_labels = n.group_labels.to_map();
  data.common_labels = common_labels(n);
  data.common_annotations = common_annotations(n);
  data.route_labels = n.route_labels;
  for (const NotificationAlert& item : n.alerts) {
    TemplateData::AlertData& a = data.alerts.emplace_back();
    a.status = item.firing ? "firing" : "resolved";
    a.labels = item.alert->labels.to_map();
    a.annotations = item.alert->annotations;
    a.starts_at = tmpl::GoTime::from(item.alert->starts_at);
    if (!item.firing) a.ends_at = tmpl::GoTime::from(item.alert->ends_at);
    a.generator_url = item.alert->generator_url;
    a.fingerprint = fingerprint_text(item.alert->fingerprint());
  }
  return data;
}

}  // namespace vagt::notify

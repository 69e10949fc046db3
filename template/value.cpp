#include "template/value.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/number_text.h"
#include "template/go_time.h"

namespace vagt::tmpl {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

class SafeText final : public TemplateObject {
 public:
  SafeText(SafeKind kind, std::string text) : kind_(kind), text_(std::move(text)) {}
  std::unique_ptr<TemplateValue> field(std::string_view) const override { return nullptr; }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return Status::not_found(std::string(name));
  }
  std::string type_name() const override {
    static constexpr const char* kNames[] = {"HTML", "URL", "HTMLAttr", "JS", "CSS"};
    return std::string("template.") + kNames[static_cast<int>(kind_)];
  }
  std::string print() const override { return text_; }
  bool truthy() const override { return !text_.empty(); }
  SafeKind kind() const { return kind_; }
  const std::string& text() const { return text_; }

 private:
  SafeKind kind_;
  std::string text_;
};

class AnyMap final : public TemplateObject {
 public:
  explicit AnyMap(ValueMap map) : map_(std::move(map)) {}
  std::unique_ptr<TemplateValue> field(std::string_view name) const override {
    const auto found = map_.find(std::string(name));
    return std::make_unique<TemplateValue>(found == map_.end() ? TemplateValue() : found->second);
  }
  Result<TemplateValue> call(std::string_view name, std::span<const TemplateValue>) const override {
    return Status::not_found(std::string(name));
  }
  std::string type_name() const override { return "map[string]interface {}"; }
  std::string print() const override { return print_value(TemplateValue(map_)); }
  bool truthy() const override { return !map_.empty(); }
  const ValueMap* as_map() const override { return &map_; }

 private:
  ValueMap map_;
};

using ObjectPtr = std::shared_ptr<const TemplateObject>;
using ListPtr = std::shared_ptr<const ValueList>;
using MapPtr = std::shared_ptr<const ValueMap>;

const SafeText* as_safe_text(const TemplateValue& value) {
  const auto* object = get_if<ObjectPtr>(value);
  return object == nullptr ? nullptr : dynamic_cast<const SafeText*>(object->get());
}

void append_list(std::string& out, const ValueList& list) {
  out.push_back('[');
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out.push_back(' ');
    append_value(out, list[i]);
  }
  out.push_back(']');
}

void append_map(std::string& out, const ValueMap& map) {
  out += "map[";
  bool first = true;
  for (const auto& [key, value] : map) {
    if (!first) out.push_back(' ');
    first = false;
    out += key;
    out.push_back(':');
    append_value(out, value);
  }
  out.push_back(']');
}

bool all_text(const ValueList& list) {
  for (const TemplateValue& value : list) {
    if (get_if<std::string>(value) == nullptr) return false;
  }
  return true;
}

}  // namespace

TemplateValue make_safe(SafeKind kind, std::string text) {
  return TemplateValue(ObjectPtr(std::make_shared<SafeText>(kind, std::move(text))));
}

const std::string* as_safe(const TemplateValue& value, SafeKind kind) {
  const SafeText* safe = as_safe_text(value);
  return safe != nullptr && safe->kind() == kind ? &safe->text() : nullptr;
}

const std::string* as_text(const TemplateValue& value) {
  if (const auto* text = get_if<std::string>(value)) return text;
  const SafeText* safe = as_safe_text(value);
  return safe == nullptr ? nullptr : &safe->text();
}

TemplateValue make_any_map(ValueMap map) {
  return TemplateValue(ObjectPtr(std::make_shared<AnyMap>(std::move(map))));
}

std::string type_name(const TemplateValue& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("<nil>"); },
                 [](bool) { return std::string("bool"); },
                 [](int64_t) { return std::string("int"); },
                 [](double) { return std::string("float64"); },
                 [](const std::string&) { return std::string("string"); },
                 [](Timestamp) { return std::string("time.Time"); },
                 [](std::chrono::nanoseconds) { return std::string("time.Duration"); },
                 [](const ListPtr& list) {
                   return std::string(all_text(*list) ? "[]string" : "[]interface {}");
                 },
                 [](const MapPtr&) { return std::string("map[string]string"); },
                 [](const ObjectPtr& object) { return object->type_name(); }},
      value.storage());
}

bool is_true(const TemplateValue& value) {
  return std::visit(Overloaded{[](std::monostate) { return false; }, [](bool b) { return b; },
                               [](int64_t i) { return i != 0; }, [](double d) { return d != 0; },
                               [](const std::string& text) { return !text.empty(); },
                               [](Timestamp) { return true; },
                               [](std::chrono::nanoseconds d) { return d.count() != 0; },
                               [](const ListPtr& list) { return !list->empty(); },
                               [](const MapPtr& map) { return !map->empty(); },
                               [](const ObjectPtr& object) { return object->truthy(); }},
                    value.storage());
}

void append_value(std::string& out, const TemplateValue& value) {
  std::visit(Overloaded{[&](std::monostate) { out += "<nil>"; },
                        [&](bool b) { out += b ? "true" : "false"; },
                        [&](int64_t i) { out += std::to_string(i); },
                        [&](double d) { out += format_go_float(d); },
                        [&](const std::string& text) { out += text; },
                        [&](Timestamp t) { out += GoTime::from(t).to_string(); },
                        [&](std::chrono::nanoseconds d) { out += format_go_duration(d); },
                        [&](const ListPtr& list) { append_list(out, *list); },
                        [&](const MapPtr& map) { append_map(out, *map); },
                        [&](const ObjectPtr& object) { out += object->print(); }},
             value.storage());
}

std::string format_go_float(double v) {
  if (v == 0 || !std::isfinite(v))
    return std::isfinite(v) && std::signbit(v) ? "-0" : format_float(v);
  const double magnitude = std::abs(v);
  if (magnitude >= 1e-4 && magnitude < 1e6) return format_float(v);
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  return std::string(buffer, end);
}

std::string print_value(const TemplateValue& value) {
  std::string out;
  append_value(out, value);
  return out;
}

std::string print_action(const TemplateValue& value) {
  return value.is_nil() ? "<no value>" : print_value(value);
}

std::string sprint(std::span<const TemplateValue> args) {
  std::string out;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool texts = i > 0 && (get_if<std::string>(args[i - 1]) != nullptr ||
                                 get_if<std::string>(args[i]) != nullptr);
    if (i > 0 && !texts) out.push_back(' ');
    append_value(out, args[i]);
  }
  return out;
}

std::string sprintln(std::span<const TemplateValue> args) {
  std::string out;
  for (size_t i = 0; i < args.size(); ++i) {
    if (i > 0) out.push_back(' ');
    append_value(out, args[i]);
  }
  return out + "\n";
}

const ValueList* list_of(const TemplateValue& value) {
  if (const auto* list = get_if<ListPtr>(value)) return list->get();
  const auto* object = get_if<ObjectPtr>(value);
  return object == nullptr ? nullptr : (*object)->as_list();
}

const ValueMap* map_of(const TemplateValue& value) {
  if (const auto* map = get_if<MapPtr>(value)) return map->get();
  const auto* object = get_if<ObjectPtr>(value);
  return object == nullptr ? nullptr : (*object)->as_map();
}

TemplateValue missing_entry(const TemplateValue& map) {
  const auto* object = get_if<ObjectPtr>(map);
  if (object != nullptr && dynamic_cast<const AnyMap*>(object->get()) != nullptr) return {};
  return TemplateValue(std::string());
}

Status wrong_count(std::string_view name, std::string_view want, size_t got) {
  return Status::invalid(
      fmt::format("wrong number of args for {}: want {} got {}", name, want, got));
}

Status wrong_type(std::string_view expected, const TemplateValue& got) {
  return Status::invalid(
      fmt::format("wrong type for value; expected {}; got {}", expected, type_name(got)));
}

}  // namespace vagt::tmpl

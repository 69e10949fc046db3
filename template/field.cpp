#include "template/field.h"

#include <fmt/core.h>

#include "template/go_time.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

using ObjectPtr = std::shared_ptr<const TemplateObject>;

Status no_field(const TemplateValue& value, std::string_view name) {
  return Status::invalid(fmt::format("can't evaluate field {} in type {}", name, type_name(value)));
}

Result<TemplateValue> map_entry(const TemplateValue& value, const ValueMap& map,
                                std::string_view name, MissingKey missing) {
  const auto found = map.find(std::string(name));
  if (found != map.end()) return found->second;
  return missing == MissingKey::Zero ? missing_entry(value) : TemplateValue();
}

}  // namespace

Result<TemplateValue> field_of(const TemplateValue& value, std::string_view name,
                               MissingKey missing) {
  if (const auto* object = get_if<ObjectPtr>(value)) {
    if (auto field = (*object)->field(name)) return std::move(*field);
    if (const ValueMap* map = (*object)->as_map()) return map_entry(value, *map, name, missing);
    return no_field(value, name);
  }
  if (const ValueMap* map = map_of(value)) return map_entry(value, *map, name, missing);
  if (value.is_nil()) {
    return Status::invalid(fmt::format("nil data; no entry for key \"{}\"", name));
  }
  return method_of(value, name, {});
}

Result<TemplateValue> method_of(const TemplateValue& value, std::string_view name,
                                std::span<const TemplateValue> args) {
  Result<TemplateValue> result = Status::not_found("");
  if (const auto* object = get_if<ObjectPtr>(value)) {
    result = (*object)->call(name, args);
    if (result || result.error().code() != Code::NotFound) return result;
    if ((*object)->field(name) != nullptr || (*object)->as_map() != nullptr) {
      return Status::invalid(
          fmt::format("{} has arguments but cannot be invoked as function", name));
    }
  } else if (const auto* t = get_if<Timestamp>(value)) {
    result = call_time(GoTime::from(*t), name, args);
  } else if (const auto* d = get_if<std::chrono::nanoseconds>(value)) {
    result = call_duration(*d, name, args);
  } else if (map_of(value) != nullptr) {
    return Status::invalid(fmt::format("{} is not a method but has arguments", name));
  }
  if (!result && result.error().code() == Code::NotFound) return no_field(value, name);
  return result;
}

}  // namespace vagt::tmpl

// What Go's reflection knows of a value: its type's name, its truth, how it prints.
#pragma once

#include <string>
#include <string_view>

#include "template/template.h"

namespace vagt::tmpl {

// A string that is already safe in one kind of place; escaping leaves it alone there.
enum class SafeKind : uint8_t { Html, Url, Attribute, Js, Css };
TemplateValue make_safe(SafeKind kind, std::string text);
// Null when `value` is not such a string of this kind.
const std::string* as_safe(const TemplateValue& value, SafeKind kind);
// The text of a string or of a safe string of any kind; null for everything else.
const std::string* as_text(const TemplateValue& value);

// map[string]interface {}: a missing key is nil, not "".
TemplateValue make_any_map(ValueMap map);

std::string type_name(const TemplateValue& value);
bool is_true(const TemplateValue& value);
// %v; "<nil>" for nil.
std::string print_value(const TemplateValue& value);
void append_value(std::string& out, const TemplateValue& value);
// A float as Go's %v prints it: with an exponent below 1e-4 and from 1e6 on ("1e+06", "123456",
// "+Inf").
std::string format_go_float(double v);
// What {{ . }} prints: "<no value>" for nil.
std::string print_action(const TemplateValue& value);
// fmt.Sprint: a space between operands when neither is a string.
std::string sprint(std::span<const TemplateValue> args);
std::string sprintln(std::span<const TemplateValue> args);
// fmt.Sprintf with Go's verbs, flags and complaints.
std::string sprintf_go(std::string_view format, std::span<const TemplateValue> args);

// The list or map inside, also of objects that show one; null when there is none.
const ValueList* list_of(const TemplateValue& value);
const ValueMap* map_of(const TemplateValue& value);
// One element of a map or a field of a thing, as `.name` and `index` find it. nullopt: it has none
// of that name.
TemplateValue missing_entry(const TemplateValue& map);

template <class T>
const T* get_if(const TemplateValue& value) {
  return std::get_if<T>(&value.storage());
}

// "wrong number of args for NAME: want N got M".
Status wrong_count(std::string_view name, std::string_view want, size_t got);
// "wrong type for value; expected T; got U".
Status wrong_type(std::string_view expected, const TemplateValue& got);

}  // namespace vagt::tmpl

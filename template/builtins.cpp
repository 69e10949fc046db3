#include "template/builtins.h"

#include <fmt/core.h>

#include <array>
#include <compare>
#include <optional>

#include "template/escape_text.h"
#include "template/go_time.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

using Args = std::span<const TemplateValue>;
using Answer = Result<TemplateValue>;

Answer not_of(Args args) {
  if (args.size() != 1) return wrong_count("not", "1", args.size());
  return TemplateValue(!is_true(args[0]));
}

Answer len_of(Args args) {
  if (args.size() != 1) return wrong_count("len", "1", args.size());
  if (const std::string* text = as_text(args[0]))
    return TemplateValue(static_cast<int64_t>(text->size()));
  if (const ValueList* list = list_of(args[0]))
    return TemplateValue(static_cast<int64_t>(list->size()));
  if (const ValueMap* map = map_of(args[0]))
    return TemplateValue(static_cast<int64_t>(map->size()));
  if (args[0].is_nil()) return Status::invalid("len of nil pointer");
  return Status::invalid("len of type " + type_name(args[0]));
}

// -- index, slice
// ------------------------------------------------------------------------------------------------------

Result<size_t> position(const TemplateValue& index, size_t size) {
  const auto* i = get_if<int64_t>(index);
  if (index.is_nil()) return Status::invalid("cannot index slice/array with nil");
  if (i == nullptr)
    return Status::invalid("cannot index slice/array with type " + type_name(index));
  if (*i < 0 || static_cast<uint64_t>(*i) > size)
    return Status::invalid(fmt::format("index out of range: {}", *i));
  return static_cast<size_t>(*i);
}

Answer index_one(const TemplateValue& item, const TemplateValue& index) {
  if (item.is_nil()) return Status::invalid("index of untyped nil");
  const std::string* text = as_text(item);
  const ValueList* list = list_of(item);
  if (text != nullptr || list != nullptr) {
    const size_t size = text != nullptr ? text->size() : list->size();
    VAGT_TRY(const size_t at, position(index, size));
    if (at == size) return Status::invalid("reflect: slice index out of range");
    if (list != nullptr) return (*list)[at];
    return TemplateValue(int64_t{static_cast<unsigned char>((*text)[at])});
  }
  if (const ValueMap* map = map_of(item)) {
    const std::string* key = as_text(index);
    if (key == nullptr)
      return Status::invalid(fmt::format("value has type {}; should be string", type_name(index)));
    const auto found = map->find(*key);
    return found == map->end() ? missing_entry(item) : found->second;
  }
  return Status::invalid("can't index item of type " + type_name(item));
}

Answer index_of(Args args) {
  if (args.empty()) return wrong_count("index", "at least 1", 0);
  TemplateValue item = args[0];
  if (item.is_nil()) return Status::invalid("index of untyped nil");
  for (size_t i = 1; i < args.size(); ++i) {
    VAGT_TRY(item, index_one(item, args[i]));
  }
  return item;
}

Answer slice_of(Args args) {
  if (args.empty()) return wrong_count("slice", "at least 1", 0);
  if (args[0].is_nil()) return Status::invalid("slice of untyped nil");
  const size_t indexes = args.size() - 1;
  if (indexes > 3) return Status::invalid(fmt::format("too many slice indexes: {}", indexes));
  const std::string* text = as_text(args[0]);
  const ValueList* list = list_of(args[0]);
  if (text == nullptr && list == nullptr)
    return Status::invalid("can't slice item of type " + type_name(args[0]));
  if (text != nullptr && indexes == 3) return Status::invalid("cannot 3-index slice a string");
  const size_t size = text != nullptr ? text->size() : list->size();
  std::array<size_t, 3> at{0, size, size};
  for (size_t i = 0; i < indexes; ++i) {
    VAGT_TRY(at[i], position(args[i + 1], size));
  }
  for (size_t i = 0; i + 1 < std::max<size_t>(indexes, 2); ++i) {
    if (at[i] > at[i + 1])
      return Status::invalid(fmt::format("invalid slice index: {} > {}", at[i], at[i + 1]));
  }
  if (text != nullptr) return TemplateValue(text->substr(at[0], at[1] - at[0]));
  const auto begin = list->begin();
  return TemplateValue(
      ValueList(begin + static_cast<ptrdiff_t>(at[0]), begin + static_cast<ptrdiff_t>(at[1])));
}

// -- comparison
// --------------------------------------------------------------------------------------------------------

enum class Basic : uint8_t { None, Nil, Bool, Int, Float, Text, Time };

Basic basic_kind(const TemplateValue& v) {
  if (v.is_nil()) return Basic::Nil;
  if (get_if<bool>(v) != nullptr) return Basic::Bool;
  if (get_if<int64_t>(v) != nullptr || get_if<std::chrono::nanoseconds>(v) != nullptr)
    return Basic::Int;
  if (get_if<double>(v) != nullptr) return Basic::Float;
  if (as_text(v) != nullptr) return Basic::Text;
  return time_of(v) ? Basic::Time : Basic::None;
}

int64_t whole(const TemplateValue& v) {
  const auto* n = get_if<int64_t>(v);
  return n != nullptr ? *n : get_if<std::chrono::nanoseconds>(v)->count();
}

std::partial_ordering order(Basic kind, const TemplateValue& a, const TemplateValue& b) {
  switch (kind) {
    case Basic::Bool:
      return *get_if<bool>(a) <=> *get_if<bool>(b);
    case Basic::Int:
      return whole(a) <=> whole(b);
    case Basic::Float:
      return *get_if<double>(a) <=> *get_if<double>(b);
    case Basic::Text:
      return *as_text(a) <=> *as_text(b);
    case Basic::Time: {
      const GoTime x = *time_of(a), y = *time_of(b);
      return std::pair(x.seconds, x.nanos) <=> std::pair(y.seconds, y.nanos);
    }
    default:
      return std::partial_ordering::equivalent;
  }
}

Status not_comparable(const TemplateValue& v) {
  return Status::invalid(fmt::format("non-comparable type {}: {}", print_value(v), type_name(v)));
}

Result<bool> equal(const TemplateValue& a, const TemplateValue& b) {
  const Basic kind = basic_kind(a), other = basic_kind(b);
  if (kind == Basic::None) return not_comparable(a);
  if (other == Basic::None) return not_comparable(b);
  if (kind == Basic::Nil || other == Basic::Nil) return kind == other;
  if (kind != other) return Status::invalid("incompatible types for comparison");
  return order(kind, a, b) == std::partial_ordering::equivalent;
}

Answer eq_of(Args args) {
  if (args.empty()) return wrong_count("eq", "at least 1", 0);
  if (args.size() == 1) return Status::invalid("missing argument for comparison");
  for (size_t i = 1; i < args.size(); ++i) {
    VAGT_TRY(const bool same, equal(args[0], args[i]));
    if (same) return TemplateValue(true);
  }
  return TemplateValue(false);
}

Answer ne_of(Args args) {
  if (args.size() != 2) return wrong_count("ne", "2", args.size());
  VAGT_TRY(const bool same, equal(args[0], args[1]));
  return TemplateValue(!same);
}

Result<std::partial_ordering> compare(std::string_view name, Args args) {
  if (args.size() != 2) return wrong_count(name, "2", args.size());
  const Basic kind = basic_kind(args[0]);
  if (kind != basic_kind(args[1])) return Status::invalid("incompatible types for comparison");
  if (kind != Basic::Int && kind != Basic::Float && kind != Basic::Text) {
    return Status::invalid("invalid type for comparison");
  }
  return order(kind, args[0], args[1]);
}

Answer lt_of(Args args) {
  VAGT_TRY(const std::partial_ordering o, compare("lt", args));
  return TemplateValue(o == std::partial_ordering::less);
}
Answer le_of(Args args) {
  VAGT_TRY(const std::partial_ordering o, compare("le", args));
  return TemplateValue(o == std::partial_ordering::less || o == std::partial_ordering::equivalent);
}
// Go defines gt as not le, so that NaN is greater than everything.
Answer gt_of(Args args) {
  VAGT_TRY(const std::partial_ordering o, compare("gt", args));
  return TemplateValue(o != std::partial_ordering::less && o != std::partial_ordering::equivalent);
}
Answer ge_of(Args args) {
  VAGT_TRY(const std::partial_ordering o, compare("ge", args));
  return TemplateValue(o != std::partial_ordering::less);
}

// -- printing
// ----------------------------------------------------------------------------------------------------------

std::string joined_text(Args args) {
  if (args.size() == 1) return print_action(args[0]);
  return sprint(args);
}
Answer html_of(Args args) { return TemplateValue(escape_html(joined_text(args))); }
Answer js_of(Args args) { return TemplateValue(escape_js(joined_text(args))); }
Answer urlquery_of(Args args) { return TemplateValue(escape_query(joined_text(args))); }
Answer print_of(Args args) { return TemplateValue(sprint(args)); }
Answer println_of(Args args) { return TemplateValue(sprintln(args)); }
Answer printf_of(Args args) {
  if (args.empty()) return wrong_count("printf", "at least 1", 0);
  const std::string* format = as_text(args[0]);
  if (format == nullptr) return wrong_type("string", args[0]);
  return TemplateValue(sprintf_go(*format, args.subspan(1)));
}
Answer call_of(Args args) {
  if (args.empty()) return wrong_count("call", "at least 1", 0);
  if (args[0].is_nil()) return Status::invalid("call of nil");
  return Status::invalid("non-function of type " + type_name(args[0]));
}
Answer decided_earlier(Args) { return Status(Code::Internal, "and, or are the evaluator's"); }

struct Builtin {
  std::string_view name;
  Answer (*run)(Args);
};
constexpr Builtin kBuiltins[] = {
    {"and", decided_earlier},
    {"or", decided_earlier},
    {"not", not_of},
    {"len", len_of},
    {"index", index_of},
    {"slice", slice_of},
    {"eq", eq_of},
    {"ne", ne_of},
    {"lt", lt_of},
    {"le", le_of},
    {"gt", gt_of},
    {"ge", ge_of},
    {"html", html_of},
    {"js", js_of},
    {"urlquery", urlquery_of},
    {"print", print_of},
    {"println", println_of},
    {"printf", printf_of},
    {"call", call_of},
};

}  // namespace

int find_builtin(std::string_view name) {
  for (size_t i = 0; i < std::size(kBuiltins); ++i) {
    if (kBuiltins[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::string_view builtin_name(int index) { return kBuiltins[index].name; }

Result<TemplateValue> call_builtin(int index, std::span<const TemplateValue> args) {
  return kBuiltins[index].run(args);
}

}  // namespace vagt::tmpl

// Go's text/template as Prometheus and Alertmanager use it: parsed once, run many times, bounded.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/labels.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::tmpl {

class TemplateValue;
using ValueList = std::vector<TemplateValue>;
using ValueMap = std::map<std::string, TemplateValue>;

// A value with methods and fields, seen through its face: an alert, a KV, a query sample.
class TemplateObject {
 public:
  virtual ~TemplateObject() = default;
  // A field or a method without arguments. nullptr: there is none (an error that names it).
  virtual std::unique_ptr<TemplateValue> field(std::string_view name) const = 0;
  // A method with arguments; NotFound when there is none.
  virtual Result<TemplateValue> call(std::string_view name,
                                     std::span<const TemplateValue> args) const = 0;
  virtual std::string type_name() const = 0;  // Go's, for messages: "template.KV"
  virtual std::string print() const = 0;      // what {{ . }} prints
  virtual bool truthy() const { return true; }
  // For range, len and index; null when the object is neither.
  virtual const ValueMap* as_map() const { return nullptr; }
  virtual const ValueList* as_list() const { return nullptr; }
  // What toJson writes when that is neither the map, the list nor the printed text.
  virtual std::optional<std::string> to_json() const { return std::nullopt; }
};

enum class MissingKey : uint8_t { Zero, Default };  // {{ .labels.none }}: "" / <no value>

class TemplateValue {
 public:
  using Time = Timestamp;
  using Storage =
      std::variant<std::monostate, bool, int64_t, double, std::string, Timestamp,
                   std::chrono::nanoseconds, std::shared_ptr<const ValueList>,
                   std::shared_ptr<const ValueMap>, std::shared_ptr<const TemplateObject>>;
  TemplateValue() = default;  // nil
  template <class T>
  requires(!std::is_same_v<T, TemplateValue> && std::is_constructible_v<Storage, T>)
      TemplateValue(T value)
      : storage_(std::move(value)) {}                               // NOLINT: implicit on purpose
  TemplateValue(const char* text) : storage_(std::string(text)) {}  // NOLINT
  TemplateValue(ValueList list)
      : storage_(std::make_shared<const ValueList>(std::move(list))) {}  // NOLINT
  TemplateValue(ValueMap map)
      : storage_(std::make_shared<const ValueMap>(std::move(map))) {}  // NOLINT
  const Storage& storage() const { return storage_; }
  bool is_nil() const { return std::holds_alternative<std::monostate>(storage_); }

 private:
  Storage storage_;
};

using Function = std::function<Result<TemplateValue>(std::span<const TemplateValue> args)>;
using FunctionTable = std::map<std::string, Function, std::less<>>;

// Functions of text/template itself (and, or, printf, len, index, …) are always there.
FunctionTable prometheus_functions();  // humanize, humanizeDuration, toUpper, reReplaceAll, first,
                                       // sortByLabel, …; `query` is the caller's
// toUpper, title, join, match, safeHtml, reReplaceAll, stringSlice, date, tz, since, toJson, …
// `routeLabels` answers "" until the caller puts its own. `now` is what now and since read.
FunctionTable alertmanager_functions(std::function<Timestamp()> now);
FunctionTable alertmanager_functions();  // by the machine's clock

struct Limits {
  size_t max_output_bytes = 1u << 20;
  size_t max_steps = 1'000'000;
  size_t max_depth = 100;  // of {{ template }} calls
};

enum class Escape : uint8_t { None, Html };  // Html: contextual escaping as html/template does it

struct RenderOptions {
  Escape escape = Escape::None;
  Limits limits;
  std::string_view name;  // of the text, for messages
};

// A set of named templates: files, then the text to run.
class TemplateSet {
 public:
  explicit TemplateSet(FunctionTable functions, MissingKey missing = MissingKey::Zero);
  TemplateSet(const TemplateSet&);
  TemplateSet(TemplateSet&&) noexcept;
  ~TemplateSet();
  // Adds the {{ define }}s of a text. InvalidArgument: "NAME:LINE:COLUMN: …".
  Status add(std::string_view name, std::string_view text);
  bool defines(std::string_view name) const;
  // Variables that every rendered text may use besides $: {"$labels", "Labels"} makes $labels the
  // data's field Labels.
  void declare(std::vector<std::pair<std::string, std::string>> variables);

  // Parses and runs; parsed texts are cached. Errors name template, line and column.
  Result<std::string> render(std::string_view text, const TemplateValue& data,
                             Escape escape = Escape::None, const Limits& limits = {}) const;
  Result<std::string> render(std::string_view text, const TemplateValue& data,
                             const RenderOptions& options) const;
  // Syntax and unknown functions or template names only; nothing is run.
  Status check(std::string_view text, std::string_view name = "") const;
  // The same without template names, which only running resolves.
  Status check_syntax(std::string_view text, std::string_view name = "") const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace vagt::tmpl

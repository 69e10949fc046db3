// Checks the arguments of a template function.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "template/value.h"

namespace vagt::tmpl {

using Args = std::span<const TemplateValue>;

inline Status want(std::string_view name, size_t count, Args args) {
  return args.size() == count ? Status() : wrong_count(name, std::to_string(count), args.size());
}

inline Result<std::string> text_arg(Args args, size_t at) {
  const std::string* text = as_text(args[at]);
  if (text == nullptr) return wrong_type("string", args[at]);
  return *text;
}

// int or float64 or a text that is a number: what Prometheus's humanize functions take.
Result<double> number_arg(const TemplateValue& value);

// Makes a function of one text into a Function.
template <class F>
Function text_function(std::string name, F change) {
  return [name = std::move(name), change](Args args) -> Result<TemplateValue> {
    VAGT_CHECK_OK(want(name, 1, args));
    VAGT_TRY(const std::string text, text_arg(args, 0));
    return TemplateValue(change(text));
  };
}

}  // namespace vagt::tmpl

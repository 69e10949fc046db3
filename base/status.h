// Errors as values. A function that can fail returns Status or Result<T>; a bare Code on hot paths.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace vagt {

enum class Code : uint8_t {
  Ok,
  InvalidArgument,
  NotFound,
  OutOfOrder,
  OutOfBounds,
  Duplicate,
  LimitExceeded,
  Unavailable,
  Timeout,
  Cancelled,
  Corruption,
  Io,
  Internal,
};

// Lower-case words for logs and metrics: "invalid_argument".
std::string_view code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // Ok
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {
    assert(code != Code::Ok);
  }
  static Status invalid(std::string message) { return {Code::InvalidArgument, std::move(message)}; }
  static Status not_found(std::string message) { return {Code::NotFound, std::move(message)}; }
  static Status io(std::string message) { return {Code::Io, std::move(message)}; }

  bool ok() const { return code_ == Code::Ok; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // Prepends context: Status::invalid("unknown key").at("rules.yml:14:3") is "rules.yml:14:3:
  // unknown key".
  Status&& at(std::string_view where) &&;
  // The one spelling of "dropped on purpose"; greppable.
  void ignore(std::string_view /*reason*/) const noexcept {}

 private:
  Code code_ = Code::Ok;
  std::string message_;
};

// A T or the Status that says why there is none. The members are std::expected's, which needs
// C++23.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {  // NOLINT
    assert(!error().ok());
  }
  template <class U>
  requires std::is_convertible_v<U&&, T> &&(!std::is_same_v<std::remove_cvref_t<U>, T>)&&(
      !std::is_same_v<std::remove_cvref_t<U>, Status>)&&(!std::is_same_v<std::remove_cvref_t<U>,
                                                                         Result>)Result(U&& value)
      : state_(std::in_place_index<0>, T(std::forward<U>(value))) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  bool ok() const { return has_value(); }
  explicit operator bool() const { return has_value(); }

  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Status& error() const& { return *std::get_if<1>(&state_); }
  Status&& error() && { return std::move(*std::get_if<1>(&state_)); }
  // Ok when there is a value; for code that handles both kinds alike.
  Status status() const { return has_value() ? Status() : error(); }
  Result&& at(std::string_view where) && {
    if (!has_value()) std::move(*std::get_if<1>(&state_)).at(where).ignore("modified in place");
    return std::move(*this);
  }
  void ignore(std::string_view /*reason*/) const noexcept {}

 private:
  std::variant<T, Status> state_;
};

}  // namespace vagt

#define VAGT_CONCAT_INNER(a, b) a##b
#define VAGT_CONCAT(a, b) VAGT_CONCAT_INNER(a, b)

// VAGT_TRY(auto x, f()): x is f()'s value, or the enclosing function returns f()'s Status.
#define VAGT_TRY(declaration, ...)                                 \
  auto VAGT_CONCAT(vagt_result_, __LINE__) = (__VA_ARGS__);        \
  if (!VAGT_CONCAT(vagt_result_, __LINE__).has_value())            \
    return std::move(VAGT_CONCAT(vagt_result_, __LINE__)).error(); \
  declaration = std::move(VAGT_CONCAT(vagt_result_, __LINE__)).value()

// VAGT_CHECK_OK(f()): returns f()'s Status from the enclosing function unless it is Ok.
#define VAGT_CHECK_OK(...)                                                                 \
  do {                                                                                     \
    if (::vagt::Status vagt_status = (__VA_ARGS__); !vagt_status.ok()) return vagt_status; \
  } while (false)

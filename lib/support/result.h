// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error that knows whose fault it is and where. Codes are the exit classes of the tool.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace tvc {

enum class ErrorCode { kBadInput = 2, kUnsupported = 3, kInternal = 4 };

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string place;  // file, node or tensor; outermost first, joined by ": "

  // Adds an outer place; the innermost one stays last.
  Error&& at(std::string_view where) && {
    place = place.empty() ? std::string(where) : fmt::format("{}: {}", where, place);
    return std::move(*this);
  }
  Error at(std::string_view where) const& { return Error(*this).at(where); }
  std::string text() const { return place.empty() ? message : fmt::format("{}: {}", place, message); }
};

template <typename... Args>
Error bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorCode::kBadInput, fmt::format(format, std::forward<Args>(args)...), {}};
}
template <typename... Args>
Error unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorCode::kUnsupported, fmt::format(format, std::forward<Args>(args)...), {}};
}
template <typename... Args>
Error internal(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorCode::kInternal, fmt::format(format, std::forward<Args>(args)...), {}};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  template <typename U, typename = std::enable_if_t<
                            std::is_convertible_v<U, T> && !std::is_same_v<std::decay_t<U>, T> &&
                            !std::is_same_v<std::decay_t<U>, Error> && !std::is_same_v<std::decay_t<U>, Result>>>
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

#define TVC_CONCAT_INNER(a, b) a##b
#define TVC_CONCAT(a, b) TVC_CONCAT_INNER(a, b)
#define TVC_TRY_INNER(tmp, decl, ...)           \
  auto tmp = (__VA_ARGS__);                     \
  if (!tmp.ok()) return std::move(tmp).error(); \
  decl = std::move(tmp).value()
// TVC_TRY(auto x, f()): x is f's value, or the enclosing function returns f's error.
#define TVC_TRY(decl, ...) TVC_TRY_INNER(TVC_CONCAT(tvc_try_, __LINE__), decl, __VA_ARGS__)
// TVC_CHECK_OK(f()): for Result<void>.
#define TVC_CHECK_OK(...)                                                                        \
  do {                                                                                           \
    if (auto tvc_status = (__VA_ARGS__); !tvc_status.ok()) return std::move(tvc_status).error(); \
  } while (0)

}  // namespace tvc

// SPDX-License-Identifier: Apache-2.0
// Tokens of the text form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/result.h"

namespace tvc::ir {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { skip_space(); }
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  // Takes the token if it comes next; a word must end there.
  bool take(std::string_view token);
  Result<void> expect(std::string_view token);
  std::string_view word();  // [A-Za-z_][A-Za-z0-9_.]*, empty if none
  std::optional<int64_t> integer();
  std::optional<double> number(bool* has_point = nullptr);  // also nan, inf, -inf
  Result<std::string> string();
  // The text up to the first of `stops` outside of parentheses.
  std::string_view until(std::string_view stops);
  Error error(std::string_view expected) const;

 private:
  void skip_space();
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace tvc::ir

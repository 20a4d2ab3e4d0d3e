// SPDX-License-Identifier: Apache-2.0
// RE2's syntax as POSIX extended expressions.
#pragma once

#include <string>
#include <string_view>

#include "support/result.h"

namespace tvc::ops {

struct PosixRegex {
  std::string pattern;      // matches the whole text
  bool ascii_only = false;  // a dot or a negated class would match single bytes of other characters
};
// unsupported: what POSIX has no form for (lazy repetition, flags, named classes of Unicode, ...).
Result<PosixRegex> to_posix_regex(std::string_view re2);

}  // namespace tvc::ops

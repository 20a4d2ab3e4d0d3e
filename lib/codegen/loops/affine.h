// SPDX-License-Identifier: Apache-2.0
// Index expressions as linear forms over the loop variables, with Dims as coefficients.
#pragma once

#include <map>
#include <optional>

#include "tensorexpr/expr.h"

namespace tvc::codegen::loops {

struct Linear {
  ir::Dim offset;
  std::map<int, ir::Dim> coefficients;  // by variable, never 0
};

// nullopt: not linear.
std::optional<Linear> linear(const te::Expr& index);
// Row-major position of an element of a tensor of this shape; nullopt where an index is not linear.
std::optional<Linear> flat_position(const std::vector<te::Expr>& index, const ir::Shape& shape);

}  // namespace tvc::codegen::loops

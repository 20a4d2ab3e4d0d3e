// SPDX-License-Identifier: Apache-2.0
// Nest: a tensor expression made ready for emission: axes of one element gone, neighbouring axes that every operand
// walks in one stride merged, each read's position as a linear form where it is one.
#pragma once

#include <unordered_map>
#include <vector>

#include "codegen/loops/affine.h"

namespace tvc::codegen::loops {

struct Nest {
  ir::DType dtype;
  std::vector<te::Axis> axes;
  te::Expr body;
  std::unordered_map<const te::ExprNode*, Linear> reads;  // linear reads only
};

// shapes: of the operands, by number.
Nest make_nest(const te::TensorExpr& e, const std::vector<ir::Shape>& shapes);

}  // namespace tvc::codegen::loops

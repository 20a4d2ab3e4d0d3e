// SPDX-License-Identifier: Apache-2.0
// ONNX multidirectional broadcasting over symbolic shapes.
#include <algorithm>

#include "ops/op_def.h"

namespace tvc::ops {

Result<Shape> broadcast_shapes(const std::vector<Shape>& shapes) {
  size_t rank = 0;
  for (const auto& shape : shapes) rank = std::max(rank, shape.size());
  Shape out(rank, Dim(1));
  for (const auto& shape : shapes) {
    size_t offset = rank - shape.size();
    for (size_t k = 0; k < shape.size(); ++k) {
      Dim& to = out[offset + k];
      const Dim& from = shape[k];
      if (to.is_constant() && from.is_constant() && to != from && !to.is(1) && !from.is(1))
        return bad_input("sizes {} and {} don't broadcast", to.text(), from.text());
      to = ir::broadcast(to, from);
    }
  }
  return out;
}

std::vector<te::Expr> broadcast_index(const Shape& from, const Shape& to, const std::vector<te::Axis>& at) {
  std::vector<te::Expr> index;
  size_t offset = at.size() - from.size();
  for (size_t k = 0; k < from.size(); ++k) {
    te::Expr i = te::var(at[offset + k].var);
    if (from[k].is(1)) {
      index.push_back(te::index(0));
    } else if (from[k] == to[offset + k] || from[k].is_constant()) {
      index.push_back(i);
    } else {  // a free size that may be 1 while the program runs
      index.push_back(te::select(te::eq(te::dim(from[k]), te::index(1)), te::index(0), i));
    }
  }
  return index;
}

std::vector<te::Axis> axes_of(const Shape& shape) {
  std::vector<te::Axis> axes;
  for (const auto& extent : shape) axes.push_back({te::fresh_var(), extent});
  return axes;
}

}  // namespace tvc::ops

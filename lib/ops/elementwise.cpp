// SPDX-License-Identifier: Apache-2.0
// Shape rules and bodies that element-wise definitions share.
#include "ops/op_def.h"

namespace tvc::ops {

Result<void> infer_same_as_input(InferContext& c) {
  c.set(0, c.type(0));
  return {};
}

static Result<Shape> shape_of_all(const NodeView& view) {
  std::vector<Shape> shapes;
  for (size_t k = 0; k < view.input_count(); ++k)
    if (view.has_input(k)) shapes.push_back(view.shape(k));
  return broadcast_shapes(shapes);
}

Result<void> infer_broadcast(InferContext& c) {
  TVC_TRY(auto shape, shape_of_all(c));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Result<void> infer_broadcast_bool(InferContext& c) {
  TVC_TRY(auto shape, shape_of_all(c));
  c.set(0, DType::kBool, std::move(shape));
  return {};
}

Result<std::vector<te::TensorExpr>> express_elementwise(const NodeView& view, const ScalarBody& body) {
  const ir::Type& out = view.out_type(0);
  for (size_t k = 0; k < view.input_count(); ++k)  // strings can be moved, not computed with
    if (view.has_input(k) && view.dtype(k) == DType::kString && out.dtype != DType::kString)
      return unsupported("strings are not supported here");
  auto axes = axes_of(out.shape);
  std::vector<te::Expr> elements;
  for (size_t k = 0; k < view.input_count(); ++k) {
    if (!view.has_input(k)) continue;
    elements.push_back(te::read(static_cast<int>(k), view.dtype(k), broadcast_index(view.shape(k), out.shape, axes)));
  }
  te::Expr value = te::cast(ir::compute_type(out.dtype), body(elements));
  return std::vector<te::TensorExpr>{{out.dtype, std::move(axes), std::move(value)}};
}

}  // namespace tvc::ops

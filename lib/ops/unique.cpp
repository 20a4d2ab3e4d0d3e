// SPDX-License-Identifier: Apache-2.0
// Unique: distinct elements, or slices along an axis; outputs Y, first places, inverse, counts.
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

Result<int64_t> axis_of(const NodeView& v) {
  if (!v.node().has("axis")) return int64_t{-1};
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  return static_cast<int64_t>(axis);
}

Result<void> infer_unique(InferContext& c) {
  TVC_TRY(int64_t axis, axis_of(c));
  const auto at = static_cast<size_t>(axis < 0 ? 0 : axis);
  // One of the outputs names the number of distinct ones for itself; the others have it under their own names.
  Shape y = axis < 0 ? Shape{Dim(0)} : c.shape(0);
  y[at] = c.fresh(0, static_cast<int>(at));
  c.set(0, c.dtype(0), std::move(y));
  c.set(1, DType::kI64, {c.fresh(1, 0)});
  c.set(2, DType::kI64, {axis < 0 ? ir::product(c.shape(0)) : c.shape(0)[at]});
  c.set(3, DType::kI64, {c.fresh(3, 0)});
  return {};
}

Result<RoutineCall> routine_unique(const NodeView& v) {
  TVC_TRY(int64_t axis, axis_of(v));
  if (ir::bit_width(v.dtype(0)) < 8 && v.dtype(0) != DType::kString)
    return unsupported("Unique of {} is not supported", ir::name(v.dtype(0)));
  if (v.dtype(0) == DType::kC64 || v.dtype(0) == DType::kC128)
    return unsupported("complex numbers are not supported here");
  return RoutineCall{"tvrt_op_Unique", "Unique.c", {axis, v.i("sorted", 1)}, {}, {}};
}

}  // namespace

TVC_DEFINE_OP(kUnique) = {.name = "Unique", .infer = infer_unique, .routine = routine_unique};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Det: determinants of the last two axes.
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

Result<void> infer_det(InferContext& c) {
  const int rank = c.rank(0);
  if (rank < 2) return bad_input("the operand has rank {}", rank);
  Shape shape(c.shape(0).begin(), c.shape(0).end() - 2);
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Result<RoutineCall> routine_det(const NodeView& v) {
  if (v.dtype(0) != DType::kF32 && v.dtype(0) != DType::kF64)
    return unsupported("Det of {} is not supported", ir::name(v.dtype(0)));
  return RoutineCall{"tvrt_op_Det", "Det.c", {}, {}, {}};
}

}  // namespace

TVC_DEFINE_OP(kDet) = {
    .name = "Det", .infer = infer_det, .routine = routine_det, .samples = {"f32[2,3,3]", "f64[4,4]"}};

}  // namespace tvc::ops

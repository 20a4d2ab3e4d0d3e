// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression: boxes [B, N, 4] and scores [B, C, N] to rows (batch, class, box), as many as are chosen.
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

Result<void> infer_nms(InferContext& c) {
  if (c.rank(0) != 3 || c.rank(1) != 3) return bad_input("boxes and scores have ranks {} and {}", c.rank(0), c.rank(1));
  c.set(0, DType::kI64, {c.fresh(0, 0), 3});
  return {};
}

Result<RoutineCall> routine_nms(const NodeView& v) {
  return RoutineCall{"tvrt_op_NonMaxSuppression", "NonMaxSuppression.c", {v.i("center_point_box", 0)}, {}, {}};
}

}  // namespace

TVC_DEFINE_OP(kNonMaxSuppression) = {.name = "NonMaxSuppression", .infer = infer_nms, .routine = routine_nms};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike; Identity; Dropout in inference.
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using Expressions = Result<std::vector<te::TensorExpr>>;

Result<DType> cast_target(const NodeView& v) {
  auto to = v.node().op == "CastLike" ? static_cast<int64_t>(v.dtype(1)) : v.i("to", 0);
  if (to <= 0 || to > static_cast<int64_t>(DType::kI2)) return bad_input("Cast to type {}, which is not known", to);
  return static_cast<DType>(to);
}

Result<void> infer_cast(InferContext& c) {
  TVC_TRY(DType to, cast_target(c));
  c.set(0, to, c.shape(0));
  return {};
}

bool is_small_float(DType dtype) { return ir::is_float(dtype) && ir::bit_width(dtype) <= 8 && dtype != DType::kF8E8M0; }

// saturate = 0: what is out of range becomes infinity, or NaN in types without it, instead of the largest number.
te::Expr without_saturation(const te::Expr& x, DType to) {
  // Half a unit above the largest number rounds up.
  double limit = to == DType::kF8E4M3FN ? 464 : to == DType::kF8E4M3FNUZ ? 248 : 61440;
  te::Expr magnitude = te::unary(te::Op::kAbs, x);
  te::Expr nan = te::number(x->dtype, __builtin_nan(""));
  if (to == DType::kF4E2M1) return x;
  return te::select(te::ge(magnitude, te::number(x->dtype, limit)), nan, x);
}

Expressions express_cast(const NodeView& v) {
  const DType to = v.out_type(0).dtype;
  if (v.dtype(0) == DType::kString || to == DType::kString)
    return unsupported("Cast from or to strings is not supported");
  const bool saturate = v.i("saturate", 1) != 0;
  auto axes = axes_of(v.out_type(0).shape);
  te::Expr x = te::read(0, v.dtype(0), broadcast_index(v.shape(0), v.out_type(0).shape, axes));
  if (!saturate && to == DType::kF8E5M2) return unsupported("Cast to float8e5m2 without saturation is not supported");
  if (!saturate && is_small_float(to) && ir::is_float(x->dtype)) x = without_saturation(x, to);
  return std::vector<te::TensorExpr>{{to, axes, te::cast(to, x)}};
}

Result<void> infer_dropout(InferContext& c) {
  c.set(0, c.type(0));
  c.set(1, DType::kBool, c.shape(0));
  return {};
}

// In training with a ratio of 0 nothing is dropped either.
Expressions express_dropout(const NodeView& v) {
  if (v.has_input(2)) {
    const ir::Tensor* training = v.constant(2);
    const ir::Tensor* ratio = v.has_input(1) ? v.constant(1) : nullptr;
    bool off = training != nullptr && ir::to_i64(*training)[0] == 0;
    bool nothing = v.has_input(1) && ratio != nullptr && ir::to_f64(*ratio)[0] == 0;
    if (!off && !nothing) return unsupported("Dropout in training is not supported");
  }
  auto axes = axes_of(v.out_type(0).shape);
  te::Expr x = te::read(0, v.dtype(0), broadcast_index(v.shape(0), v.out_type(0).shape, axes));
  auto mask_axes = axes_of(v.out_type(0).shape);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, x}, {DType::kBool, mask_axes, te::boolean(true)}};
}

Result<void> infer_identity(InferContext& c) {
  c.set(0, c.type(0));
  return {};
}

}  // namespace

TVC_DEFINE_OP(kCast) = {.name = "Cast",
                        .infer = infer_cast,
                        .express = express_cast,
                        .elementwise = true,
                        .samples = {"f32[3,4] | to=7", "i64[5] | to=1", "f32[4] | to=10"}};
TVC_DEFINE_OP(kCastLike) = {.name = "CastLike",
                            .infer = infer_cast,
                            .express = express_cast,
                            .elementwise = true,
                            .samples = {"f32[3,4], i64[1]"}};
TVC_DEFINE_OP(kIdentity) = {.name = "Identity", .infer = infer_identity, .view = true, .samples = {"f32[3,4]"}};
TVC_DEFINE_OP(kDropout) = {
    .name = "Dropout", .infer = infer_dropout, .express = express_dropout, .samples = {"f32[3,4]"}};

}  // namespace tvc::ops

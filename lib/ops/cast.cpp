// SPDX-License-Identifier: Apache-2.0
// Cast, CastLike, BitCast; Identity.
#include "ops/cast.h"

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

bool is_small_float(DType dtype) { return ir::is_float(dtype) && ir::bit_width(dtype) <= 8; }

te::Expr magnitude(const te::Expr& x) { return te::unary(te::Op::kAbs, x); }
te::Expr nan_like(const te::Expr& x) { return te::number(x->dtype, __builtin_nan("")); }

// Powers of two from 2^-127 to 2^127; storage takes the next one upwards.
te::Expr for_e8m0(const te::Expr& x, const std::string& round_mode, bool saturate) {
  te::Expr up = te::cast(DType::kF8E8M0, x), half = te::number(x->dtype, 0.5), y = x;
  te::Expr above = te::cast(x->dtype, up);
  if (round_mode == "down") y = te::select(te::eq(above, x), x, above * half);
  if (round_mode == "nearest") y = te::select(te::ge(x, above * te::number(x->dtype, 0.75)), above, above * half);
  if (saturate) return te::select(te::unary(te::Op::kIsNan, x), x, y);
  te::Expr low = te::lt(x, te::number(x->dtype, 0x1p-127)), high = te::gt(x, te::number(x->dtype, 0x1p127));
  return te::select(te::lor(low, high), nan_like(x), y);
}

}  // namespace

te::Expr cast_small_float(const te::Expr& x, DType to, bool saturate, const std::string& round_mode) {
  if (to == DType::kF8E8M0) return for_e8m0(x, round_mode, saturate);
  if (to == DType::kF8E5M2 && saturate)  // storage keeps infinities
    return te::min(te::max(x, te::number(x->dtype, -57344)), te::number(x->dtype, 57344));
  if (saturate || to == DType::kF4E2M1) return x;
  // Half a unit above the largest number rounds up.
  const double limit = to == DType::kF8E4M3FN ? 464 : to == DType::kF8E4M3FNUZ ? 248 : 61440;
  te::Expr outside = te::ge(magnitude(x), te::number(x->dtype, limit));
  if (to != DType::kF8E5M2) return te::select(outside, nan_like(x), x);
  te::Expr infinity = te::number(x->dtype, __builtin_inf());
  return te::select(outside, te::select(te::lt(x, te::number(x->dtype, 0)), -infinity, infinity), x);
}

namespace {

Expressions express_cast(const NodeView& v) {
  const DType to = v.out_type(0).dtype;
  if (v.dtype(0) == DType::kString || to == DType::kString)
    return unsupported("Cast from or to strings is not supported");
  const bool saturate = v.i("saturate", 1) != 0;
  auto axes = axes_of(v.out_type(0).shape);
  te::Expr x = te::read(0, v.dtype(0), broadcast_index(v.shape(0), v.out_type(0).shape, axes));
  if (is_small_float(to) && ir::is_float(x->dtype)) x = cast_small_float(x, to, saturate, v.s("round_mode", "up"));
  return std::vector<te::TensorExpr>{{to, axes, te::cast(to, x)}};
}

// The bits of a type of the same width.
Result<void> infer_bit_cast(InferContext& c) {
  TVC_TRY(DType to, cast_target(c));
  if (to == DType::kString || c.dtype(0) == DType::kString || ir::bit_width(to) != ir::bit_width(c.dtype(0)))
    return bad_input("BitCast from {} to {}, which differ in width", ir::name(c.dtype(0)), ir::name(to));
  c.set(0, to, c.shape(0));
  return {};
}

Result<void> infer_identity(InferContext& c) {
  c.set(0, c.type(0));
  return {};
}

}  // namespace

TVC_DEFINE_OP(kBitCast) = {.name = "BitCast",
                           .infer = infer_bit_cast,
                           .view = true,
                           .samples = {"f32[3,4] | to=6", "u16[5] | to=10", "i64[2] | to=11"}};
TVC_DEFINE_OP(kCast) = {
    .name = "Cast",
    .infer = infer_cast,
    .express = express_cast,
    .elementwise = true,
    .samples = {"f32[3,4] | to=7", "i64[5] | to=1", "f32[4] | to=10", "f32[7] | to=16", "f32[7] | to=17",
                "f64[7] | to=19 saturate=0", "f32[5] | to=23", "i32[7] | to=22", "u4[5] | to=1", "f16[6] | to=9",
                "f32[4]{0.3, 3, 0, 6} | to=24 round_mode=\"nearest\""}};
TVC_DEFINE_OP(kCastLike) = {.name = "CastLike",
                            .infer = infer_cast,
                            .express = express_cast,
                            .elementwise = true,
                            .samples = {"f32[3,4], i64[1]"}};
TVC_DEFINE_OP(kIdentity) = {.name = "Identity", .infer = infer_identity, .view = true, .samples = {"f32[3,4]"}};

}  // namespace tvc::ops

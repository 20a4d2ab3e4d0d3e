// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: y = saturate(round(x / scale) + zero point); DequantizeLinear: y = (x - zero point) * scale; per
// tensor, per axis, per block. DynamicQuantizeLinear: QuantizeLinear to u8 over the range of x and 0; where that is 0
// the scale is 1, as in ONNX Runtime.
#include <array>

#include "ops/cast.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using Expressions = Result<std::vector<te::TensorExpr>>;

// Index of the scale for the element at `at`.
Result<std::vector<Expr>> scale_index(const NodeView& v, const std::vector<te::Axis>& at) {
  const Shape& scale = v.shape(1);
  if (scale.empty()) return std::vector<Expr>{};
  const int rank = v.rank(0);
  const int64_t block = v.i("block_size", 0);
  if (block == 0 && scale.size() == 1) {
    if (scale[0].is(1)) return std::vector<Expr>{te::index(0)};
    TVC_TRY(int axis, v.axis(v.i("axis", 1), rank));
    return std::vector<Expr>{te::var(at[static_cast<size_t>(axis)].var)};
  }
  if (static_cast<int>(scale.size()) != rank) return bad_input("scale has rank {}, the tensor {}", scale.size(), rank);
  TVC_TRY(int axis, v.axis(v.i("axis", 1), rank));
  std::vector<Expr> index;
  for (int k = 0; k < rank; ++k) {
    Expr i = te::var(at[static_cast<size_t>(k)].var);
    index.push_back(k == axis && block > 0 ? i / te::index(block) : i);
  }
  return index;
}

DType quantized_type(const NodeView& v) {
  if (v.has_input(2)) return v.dtype(2);
  int64_t given = v.i("output_dtype", 0);
  return given == 0 ? DType::kU8 : static_cast<DType>(given);
}

Result<void> infer_quantize(InferContext& c) {
  c.set(0, quantized_type(c), c.shape(0));
  return {};
}

Expr saturated(Expr x, DType to) {
  const int bits = ir::bit_width(to);
  const bool is_signed = ir::is_signed_int(to);
  double low = is_signed ? -static_cast<double>(int64_t{1} << (bits - 1)) : 0;
  double high = static_cast<double>((int64_t{1} << (is_signed ? bits - 1 : bits)) - 1);
  return te::min(te::max(std::move(x), te::number(DType::kF32, low)), te::number(DType::kF32, high));
}

Expressions express_quantize(const NodeView& v) {
  const DType to = v.out_type(0).dtype;
  auto axes = axes_of(v.out_type(0).shape);
  TVC_TRY(auto at, scale_index(v, axes));
  std::vector<Expr> self;
  for (const auto& axis : axes) self.push_back(te::var(axis.var));
  // The division has the precision of the scale, or the one asked for.
  const int64_t asked = v.i("precision", 0);
  const DType precision = asked == 0 ? v.dtype(1) : static_cast<DType>(asked);
  if (!ir::is_float(precision)) return bad_input("a precision that is no type of floats");
  Expr x = te::cast(precision, te::read(0, v.dtype(0), self)), scale = te::cast(precision, te::read(1, v.dtype(1), at));
  Expr y = te::cast(DType::kF32, te::cast(precision, x / scale));
  if (ir::is_int(to)) y = te::unary(Op::kRoundEven, y);
  if (v.has_input(2)) y = y + te::cast(DType::kF32, te::read(2, v.dtype(2), at));
  if (ir::is_int(to)) y = te::cast(DType::kI32, saturated(y, to));
  else if (ir::bit_width(to) <= 8) y = cast_small_float(y, to, v.i("saturate", 1) != 0);
  return std::vector<te::TensorExpr>{{to, axes, te::cast(to, y)}};
}

Result<void> infer_dequantize(InferContext& c) {
  int64_t given = c.i("output_dtype", 0);
  c.set(0, given == 0 ? c.dtype(1) : static_cast<DType>(given), c.shape(0));
  return {};
}

Expressions express_dequantize(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  TVC_TRY(auto at, scale_index(v, axes));
  std::vector<Expr> self;
  for (const auto& axis : axes) self.push_back(te::var(axis.var));
  const bool integer = ir::is_int(v.dtype(0));
  Expr x = te::read(0, v.dtype(0), self);
  if (integer) x = te::cast(DType::kI32, x);
  if (v.has_input(2)) {
    Expr zero = te::read(2, v.dtype(2), at);
    x = x - (integer ? te::cast(DType::kI32, zero) : zero);
  }
  Expr y = te::cast(DType::kF32, x) * te::cast(DType::kF32, te::read(1, v.dtype(1), at));
  return std::vector<te::TensorExpr>{{v.out_type(0).dtype, axes, te::cast(v.out_type(0).dtype, y)}};
}

Result<void> infer_dynamic_quantize(InferContext& c) {
  c.set(0, DType::kU8, c.shape(0));
  c.set(1, DType::kF32, {});
  c.set(2, DType::kU8, {});
  return {};
}

Result<std::vector<ir::ValueId>> decompose_dynamic_quantize(DecomposeContext& c) {
  ir::ValueId zero = c.scalar(DType::kF32, 0), one = c.scalar(DType::kF32, 1), top = c.scalar(DType::kF32, 255);
  std::array<ir::ValueId, 2> ends{};
  for (size_t k = 0; k < 2; ++k) {
    TVC_TRY(auto end, c.add(k == 0 ? "ReduceMin" : "ReduceMax", {c.in(0)}, {{"keepdims", int64_t{0}}}));
    TVC_TRY(ends[k], c.add(k == 0 ? "Min" : "Max", {end, zero}));
  }
  TVC_TRY(auto range, c.add("Sub", {ends[1], ends[0]}));
  TVC_TRY(auto step, c.add("Div", {range, top}));
  TVC_TRY(auto empty, c.add("Equal", {step, zero}));
  TVC_TRY(auto scale, c.add("Where", {empty, one, step}));
  TVC_TRY(auto below, c.add("Div", {ends[0], scale}));
  TVC_TRY(auto offset, c.add("Neg", {below}));
  TVC_TRY(auto clipped, c.add("Clip", {offset, zero, top}));
  TVC_TRY(auto rounded, c.add("Round", {clipped}));
  TVC_TRY(auto zero_point, c.add("Cast", {rounded}, {{"to", static_cast<int64_t>(DType::kU8)}}));
  TVC_TRY(auto y, c.add("QuantizeLinear", {c.in(0), scale, zero_point}));
  return std::vector<ir::ValueId>{y, scale, zero_point};
}

}  // namespace

TVC_DEFINE_OP(kDynamicQuantizeLinear) = {.name = "DynamicQuantizeLinear",
                                         .infer = infer_dynamic_quantize,
                                         .decompose = decompose_dynamic_quantize,
                                         .samples = {"f32[3,5]", "f32[4]{0, 0, 0, 0}", "f32[4]{-1, -2, -3, -8}"}};
TVC_DEFINE_OP(kQuantizeLinear) = {.name = "QuantizeLinear",
                                  .infer = infer_quantize,
                                  .express = express_quantize,
                                  .samples = {"f32[2,3,4], f32[], u8[]", "f32[2,3,4], f32[3], i8[3]",
                                              "f32[4,6], f32[4,2], u4[4,2] | axis=1 block_size=3",
                                              "f32[6], f32[], f8e4m3fn[]", "f16[2,3], f16[3], i8[3]"}};
TVC_DEFINE_OP(kDequantizeLinear) = {.name = "DequantizeLinear",
                                    .infer = infer_dequantize,
                                    .express = express_dequantize,
                                    .samples = {"u8[2,3,4], f32[], u8[]", "i8[2,3,4], f32[3], i8[3]",
                                                "i4[4,6], f32[4,2] | axis=1 block_size=3", "i32[5], f32[]"}};

}  // namespace tvc::ops

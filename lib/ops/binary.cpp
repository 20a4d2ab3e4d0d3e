// SPDX-License-Identifier: Apache-2.0
// Functions of two or more numbers with broadcasting: arithmetic, comparisons, logic, bits, selection.
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using Expressions = Result<std::vector<te::TensorExpr>>;

template <Op op>
Expressions express_binary(const NodeView& v) {
  return express_elementwise(v, [](const std::vector<Expr>& x) { return te::binary(op, x[0], x[1]); });
}

// Any number of operands: Max, Min, Sum.
template <Op op>
Expressions express_chain(const NodeView& v) {
  return express_elementwise(v, [](const std::vector<Expr>& x) {
    Expr y = x[0];
    for (size_t k = 1; k < x.size(); ++k) y = te::binary(op, y, x[k]);
    return y;
  });
}

Expressions express_mean(const NodeView& v) {
  return express_elementwise(v, [](const std::vector<Expr>& x) {
    Expr y = x[0];
    for (size_t k = 1; k < x.size(); ++k) y = y + x[k];
    return y / te::number(y->dtype, static_cast<double>(x.size()));
  });
}

// Base and exponent may differ in type; the result has the base's. Integers are raised as floats where the exponent is
// one.
Expressions express_pow(const NodeView& v) {
  const ir::Tensor* exponent = v.constant(1);
  return express_elementwise(v, [&](const std::vector<Expr>& x) -> Expr {
    Expr base = x[0], power = x[1];
    const bool real = ir::is_float(base->dtype);
    if (real && exponent != nullptr && exponent->count() == 1) {
      double p = ir::to_f64(*exponent)[0];
      if (p == 1) return base;
      if (p == 2) return base * base;
      if (p == 3) return base * base * base;
      if (p == 0.5) return te::unary(Op::kSqrt, base);
      if (p == -0.5) return te::number(base->dtype, 1) / te::unary(Op::kSqrt, base);
      if (p == -1) return te::number(base->dtype, 1) / base;
    }
    if (base->dtype == power->dtype) return te::binary(Op::kPow, base, power);
    if (real) return te::binary(Op::kPow, base, te::cast(base->dtype, power));
    if (!ir::is_float(power->dtype)) return te::binary(Op::kPow, base, te::cast(base->dtype, power));
    return te::cast(base->dtype, te::binary(Op::kPow, te::cast(DType::kF64, base), te::cast(DType::kF64, power)));
  });
}

Expressions express_mod(const NodeView& v) {
  const bool fmod = v.i("fmod", 0) != 0;
  return express_elementwise(
      v, [&](const std::vector<Expr>& x) { return te::binary(fmod ? Op::kRem : Op::kMod, x[0], x[1]); });
}

Expressions express_shift(const NodeView& v) {
  const bool left = v.s("direction", "") == "LEFT";
  return express_elementwise(
      v, [&](const std::vector<Expr>& x) { return te::binary(left ? Op::kShl : Op::kShr, x[0], x[1]); });
}

Result<void> infer_where(InferContext& c) {
  TVC_TRY(auto shape, broadcast_shapes({c.shape(0), c.shape(1), c.shape(2)}));
  c.set(0, c.dtype(1), std::move(shape));
  return {};
}

Expressions express_where(const NodeView& v) {
  return express_elementwise(v, [](const std::vector<Expr>& x) { return te::select(x[0], x[1], x[2]); });
}

Result<RoutineCall> equal_strings(const NodeView&) {
  return RoutineCall{"tvrt_op_EqualString", "String.c", {}, {}, {}};
}

}  // namespace

#define TVC_BINARY(symbol, onnx_name, infer_rule, rule, ...) \
  TVC_DEFINE_OP(symbol) = {                                  \
      .name = onnx_name, .infer = infer_rule, .express = rule, .elementwise = true, .samples = {__VA_ARGS__}}

TVC_BINARY(kAdd, "Add", infer_broadcast, express_binary<Op::kAdd>, "f32[3,4], f32[4]", "i64[2,1], i64[1,3]",
           "f16[0], f16[1]");
TVC_BINARY(kSub, "Sub", infer_broadcast, express_binary<Op::kSub>, "f32[3,4], f32[4]", "i32[2,1], i32[1,3]");
TVC_BINARY(kMul, "Mul", infer_broadcast, express_binary<Op::kMul>, "f32[3,4], f32[4]", "i64[2,1], i64[1,3]");
TVC_BINARY(kDiv, "Div", infer_broadcast, express_binary<Op::kDiv>, "f32[3,4], f32[4]");
TVC_BINARY(kPow, "Pow", infer_broadcast, express_pow, "f32[3,4], f32[]");
TVC_BINARY(kMod, "Mod", infer_broadcast, express_mod, "f32[3,4], f32[4] | fmod=1");
TVC_BINARY(kMin, "Min", infer_broadcast, express_chain<Op::kMin>, "f32[3,4], f32[4]", "i64[3]",
           "f32[2], f32[2], f32[1]");
TVC_BINARY(kMax, "Max", infer_broadcast, express_chain<Op::kMax>, "f32[3,4], f32[4]", "i64[3]",
           "f32[2], f32[2], f32[1]");
TVC_BINARY(kSum, "Sum", infer_broadcast, express_chain<Op::kAdd>, "f32[3,4], f32[4]", "f32[2], f32[2], f32[1]");
TVC_BINARY(kMean, "Mean", infer_broadcast, express_mean, "f32[3,4], f32[4]", "f32[2], f32[2], f32[1]");
TVC_BINARY(kAnd, "And", infer_broadcast_bool, express_binary<Op::kAnd>, "bool[3,4], bool[4]");
TVC_BINARY(kOr, "Or", infer_broadcast_bool, express_binary<Op::kOr>, "bool[3,4], bool[4]");
TVC_BINARY(kXor, "Xor", infer_broadcast_bool, express_binary<Op::kXor>, "bool[3,4], bool[4]");
TVC_DEFINE_OP(kEqual) = {.name = "Equal",
                         .infer = infer_broadcast_bool,
                         .express = express_binary<Op::kEq>,
                         .routine = equal_strings,
                         .elementwise = true,
                         .samples = {"f32[3,4], f32[4]", "i64[3], i64[3]", "bool[2], bool[2]"}};
TVC_BINARY(kLess, "Less", infer_broadcast_bool, express_binary<Op::kLt>, "f32[3,4], f32[4]");
TVC_BINARY(kLessOrEqual, "LessOrEqual", infer_broadcast_bool, express_binary<Op::kLe>, "f32[3,4], f32[4]");
TVC_BINARY(kGreater, "Greater", infer_broadcast_bool, express_binary<Op::kGt>, "f32[3,4], f32[4]");
TVC_BINARY(kGreaterOrEqual, "GreaterOrEqual", infer_broadcast_bool, express_binary<Op::kGe>, "f32[3,4], f32[4]");
TVC_BINARY(kBitwiseAnd, "BitwiseAnd", infer_broadcast, express_binary<Op::kBitAnd>, "i32[3,4], i32[4]");
TVC_BINARY(kBitwiseOr, "BitwiseOr", infer_broadcast, express_binary<Op::kBitOr>, "i32[3,4], i32[4]");
TVC_BINARY(kBitwiseXor, "BitwiseXor", infer_broadcast, express_binary<Op::kBitXor>, "i32[3,4], i32[4]");
TVC_BINARY(kBitShift, "BitShift", infer_broadcast, express_shift, "u8[3,4], u8[4] | direction=\"LEFT\"");
TVC_BINARY(kWhere, "Where", infer_where, express_where, "bool[3,1], f32[3,4], f32[4]");

}  // namespace tvc::ops

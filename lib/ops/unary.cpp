// SPDX-License-Identifier: Apache-2.0
// Functions of one number, element by element: y = f(x).
#include <cmath>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using Expressions = Result<std::vector<te::TensorExpr>>;

template <Op op>
Expressions express_unary(const NodeView& v) {
  return express_elementwise(v, [](const std::vector<Expr>& x) { return te::unary(op, x[0]); });
}

Result<void> infer_bool(InferContext& c) {
  c.set(0, DType::kBool, c.shape(0));
  return {};
}

Expressions express_reciprocal(const NodeView& v) {
  return express_elementwise(v, [](const std::vector<Expr>& x) { return te::number(x[0]->dtype, 1) / x[0]; });
}

Expressions express_is_inf(const NodeView& v) {
  const bool negative = v.i("detect_negative", 1) != 0, positive = v.i("detect_positive", 1) != 0;
  return express_elementwise(v, [&](const std::vector<Expr>& x) {
    Expr zero = te::number(x[0]->dtype, 0), is_inf = te::unary(Op::kIsInf, x[0]);
    if (negative && positive) return is_inf;
    if (negative) return te::land(is_inf, te::lt(x[0], zero));
    if (positive) return te::land(is_inf, te::gt(x[0], zero));
    return te::boolean(false);
  });
}

// Integers are what they are: rounding leaves them.
template <Op op>
Expressions express_rounding(const NodeView& v) {
  return express_elementwise(
      v, [](const std::vector<Expr>& x) { return ir::is_float(x[0]->dtype) ? te::unary(op, x[0]) : x[0]; });
}

}  // namespace

#define TVC_UNARY(symbol, onnx_name, op)            \
  TVC_DEFINE_OP(symbol) = {                         \
      .name = onnx_name,                            \
      .infer = infer_same_as_input,                 \
      .express = express_unary<op>,                 \
      .elementwise = true,                          \
      .samples = {"f32[3,7]", "f16[0,5]", "f64[]"}, \
  }

TVC_UNARY(kAbs, "Abs", Op::kAbs);
TVC_UNARY(kAcos, "Acos", Op::kAcos);
TVC_UNARY(kAcosh, "Acosh", Op::kAcosh);
TVC_UNARY(kAsin, "Asin", Op::kAsin);
TVC_UNARY(kAsinh, "Asinh", Op::kAsinh);
TVC_UNARY(kAtan, "Atan", Op::kAtan);
TVC_UNARY(kAtanh, "Atanh", Op::kAtanh);
TVC_UNARY(kCos, "Cos", Op::kCos);
TVC_UNARY(kCosh, "Cosh", Op::kCosh);
TVC_UNARY(kErf, "Erf", Op::kErf);
TVC_UNARY(kExp, "Exp", Op::kExp);
TVC_UNARY(kLog, "Log", Op::kLog);
TVC_UNARY(kNeg, "Neg", Op::kNeg);
TVC_UNARY(kSigmoid, "Sigmoid", Op::kSigmoid);
TVC_UNARY(kSign, "Sign", Op::kSign);
TVC_UNARY(kSin, "Sin", Op::kSin);
TVC_UNARY(kSinh, "Sinh", Op::kSinh);
TVC_UNARY(kSqrt, "Sqrt", Op::kSqrt);
TVC_UNARY(kTan, "Tan", Op::kTan);
TVC_UNARY(kTanh, "Tanh", Op::kTanh);

TVC_DEFINE_OP(kCeil) = {.name = "Ceil",
                        .infer = infer_same_as_input,
                        .express = express_rounding<Op::kCeil>,
                        .elementwise = true,
                        .samples = {"f32[5]"}};
TVC_DEFINE_OP(kFloor) = {.name = "Floor",
                         .infer = infer_same_as_input,
                         .express = express_rounding<Op::kFloor>,
                         .elementwise = true,
                         .samples = {"f32[5]"}};
TVC_DEFINE_OP(kRound) = {.name = "Round",
                         .infer = infer_same_as_input,
                         .express = express_rounding<Op::kRoundEven>,
                         .elementwise = true,
                         .samples = {"f32[5]"}};
TVC_DEFINE_OP(kReciprocal) = {.name = "Reciprocal",
                              .infer = infer_same_as_input,
                              .express = express_reciprocal,
                              .elementwise = true,
                              .samples = {"f32[5]"}};
TVC_DEFINE_OP(kNot) = {.name = "Not",
                       .infer = infer_same_as_input,
                       .express = express_unary<Op::kNot>,
                       .elementwise = true,
                       .samples = {"bool[5]"}};
TVC_DEFINE_OP(kBitwiseNot) = {.name = "BitwiseNot",
                              .infer = infer_same_as_input,
                              .express = express_unary<Op::kBitNot>,
                              .elementwise = true,
                              .samples = {"i32[5]", "u8[3]"}};
TVC_DEFINE_OP(kIsNaN) = {.name = "IsNaN",
                         .infer = infer_bool,
                         .express = express_unary<Op::kIsNan>,
                         .elementwise = true,
                         .samples = {"f32[5]"}};
TVC_DEFINE_OP(kIsInf) = {
    .name = "IsInf", .infer = infer_bool, .express = express_is_inf, .elementwise = true, .samples = {"f32[5]"}};

}  // namespace tvc::ops

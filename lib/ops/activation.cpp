// SPDX-License-Identifier: Apache-2.0
// Activations, each as ONNX's formula says it.
#include <cmath>
#include <numbers>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using Expressions = Result<std::vector<te::TensorExpr>>;

Expr num(const Expr& like, double value) {
  return ir::is_float(like->dtype) ? te::number(like->dtype, value)
                                   : te::integer(like->dtype, static_cast<int64_t>(value));
}
Expr exp(Expr x) { return te::unary(Op::kExp, std::move(x)); }
Expr positive(const Expr& x) { return te::gt(x, num(x, 0)); }

using Formula = Expr (*)(const Expr& x, const NodeView& v);
template <Formula formula>
Expressions express_formula(const NodeView& v) {
  return express_elementwise(v, [&](const std::vector<Expr>& x) { return formula(x[0], v); });
}

Expr relu(const Expr& x, const NodeView&) { return te::max(x, num(x, 0)); }
Expr leaky_relu(const Expr& x, const NodeView& v) {
  return te::select(te::ge(x, num(x, 0)), x, x * num(x, v.f("alpha", 0.01)));
}
Expr elu(const Expr& x, const NodeView& v) {
  return te::select(positive(x), x, num(x, v.f("alpha", 1)) * (exp(te::min(x, num(x, 0))) - num(x, 1)));
}
Expr selu(const Expr& x, const NodeView& v) {
  Expr alpha = num(x, v.f("alpha", 1.67326319217681884765625)), gamma = num(x, v.f("gamma", 1.05070102214813232421875));
  return gamma * te::select(positive(x), x, alpha * exp(te::min(x, num(x, 0))) - alpha);
}
Expr celu(const Expr& x, const NodeView& v) {
  Expr alpha = num(x, v.f("alpha", 1)), zero = num(x, 0);
  return te::max(zero, x) + te::min(zero, alpha * (exp(te::min(x, zero) / alpha) - num(x, 1)));
}
Expr thresholded_relu(const Expr& x, const NodeView& v) {
  return te::select(te::gt(x, num(x, v.f("alpha", 1))), x, num(x, 0));
}
Expr hard_sigmoid(const Expr& x, const NodeView& v) {
  return te::max(num(x, 0), te::min(num(x, 1), num(x, v.f("alpha", 0.2)) * x + num(x, v.f("beta", 0.5))));
}
Expr hard_swish(const Expr& x, const NodeView&) {
  return x * te::max(num(x, 0), te::min(num(x, 1), x * num(x, 1.0 / 6) + num(x, 0.5)));
}
// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
Expr softplus_of(const Expr& x) {
  return te::max(x, num(x, 0)) + te::unary(Op::kLog, num(x, 1) + exp(-te::unary(Op::kAbs, x)));
}
Expr softplus(const Expr& x, const NodeView&) { return softplus_of(x); }
Expr softsign(const Expr& x, const NodeView&) { return x / (num(x, 1) + te::unary(Op::kAbs, x)); }
Expr mish(const Expr& x, const NodeView&) { return x * te::unary(Op::kTanh, softplus_of(x)); }
Expr swish(const Expr& x, const NodeView& v) { return x * te::unary(Op::kSigmoid, num(x, v.f("alpha", 1)) * x); }
Expr gelu_erf(const Expr& x) {
  return num(x, 0.5) * x * (num(x, 1) + te::unary(Op::kErf, x * num(x, 1 / std::numbers::sqrt2)));
}
Expr gelu_tanh(const Expr& x) {
  Expr inner = num(x, std::sqrt(2 / std::numbers::pi)) * (x + num(x, 0.044715) * x * x * x);
  return num(x, 0.5) * x * (num(x, 1) + te::unary(Op::kTanh, inner));
}
Expr gelu(const Expr& x, const NodeView& v) {
  return v.s("approximate", "none") == "tanh" ? gelu_tanh(x) : gelu_erf(x);
}
Expr quick_gelu(const Expr& x, const NodeView& v) {
  return x * te::unary(Op::kSigmoid, num(x, v.f("alpha", 1.702)) * x);
}
Expr shrink(const Expr& x, const NodeView& v) {
  Expr lambda = num(x, v.f("lambd", 0.5)), bias = num(x, v.f("bias", 0));
  return te::select(te::lt(x, -lambda), x + bias, te::select(te::gt(x, lambda), x - bias, num(x, 0)));
}

Expressions express_prelu(const NodeView& v) {
  return express_elementwise(
      v, [](const std::vector<Expr>& x) { return te::select(te::lt(x[0], num(x[0], 0)), x[0] * x[1], x[0]); });
}

// The bias is optional: FastGelu(x, bias).
Expressions express_biased_gelu(const NodeView& v) {
  const bool tanh_form = v.node().op == "com.microsoft.FastGelu";
  return express_elementwise(v, [&](const std::vector<Expr>& x) {
    Expr sum = x.size() > 1 ? x[0] + x[1] : x[0];
    return tanh_form ? gelu_tanh(sum) : gelu_erf(sum);
  });
}

// min and max may be omitted; where min > max, max wins.
Expressions express_clip(const NodeView& v) {
  return express_elementwise(v, [&](const std::vector<Expr>& x) {
    Expr y = x[0];
    size_t next = 1;
    if (v.has_input(1)) y = te::max(y, x[next++]);
    if (v.has_input(2)) y = te::min(y, x[next]);
    return y;
  });
}

}  // namespace

#define TVC_ACTIVATION(symbol, onnx_name, formula)  \
  TVC_DEFINE_OP(symbol) = {                         \
      .name = onnx_name,                            \
      .infer = infer_same_as_input,                 \
      .express = express_formula<formula>,          \
      .elementwise = true,                          \
      .samples = {"f32[3,7]", "f16[0,5]", "f32[]"}, \
  }

TVC_ACTIVATION(kRelu, "Relu", relu);
TVC_ACTIVATION(kLeakyRelu, "LeakyRelu", leaky_relu);
TVC_ACTIVATION(kElu, "Elu", elu);
TVC_ACTIVATION(kSelu, "Selu", selu);
TVC_ACTIVATION(kCelu, "Celu", celu);
TVC_ACTIVATION(kThresholdedRelu, "ThresholdedRelu", thresholded_relu);
TVC_ACTIVATION(kHardSigmoid, "HardSigmoid", hard_sigmoid);
TVC_ACTIVATION(kHardSwish, "HardSwish", hard_swish);
TVC_ACTIVATION(kSoftplus, "Softplus", softplus);
TVC_ACTIVATION(kSoftsign, "Softsign", softsign);
TVC_ACTIVATION(kMish, "Mish", mish);
TVC_ACTIVATION(kSwish, "Swish", swish);
TVC_ACTIVATION(kGelu, "Gelu", gelu);
TVC_ACTIVATION(kShrink, "Shrink", shrink);
TVC_ACTIVATION(kMicrosoftQuickGelu, "com.microsoft.QuickGelu", quick_gelu);

TVC_DEFINE_OP(kPRelu) = {.name = "PRelu",
                         .infer = infer_same_as_input,
                         .express = express_prelu,
                         .elementwise = true,
                         .samples = {"f32[2,3,4], f32[3,1]"}};
TVC_DEFINE_OP(kClip) = {.name = "Clip",
                        .infer = infer_same_as_input,
                        .express = express_clip,
                        .elementwise = true,
                        .samples = {"f32[3,4], f32[], f32[]", "f32[5]"}};
TVC_DEFINE_OP(kMicrosoftFastGelu) = {.name = "com.microsoft.FastGelu",
                                     .infer = infer_same_as_input,
                                     .express = express_biased_gelu,
                                     .elementwise = true,
                                     .samples = {"f32[3,4], f32[4]"}};
TVC_DEFINE_OP(kMicrosoftBiasGelu) = {.name = "com.microsoft.BiasGelu",
                                     .infer = infer_same_as_input,
                                     .express = express_biased_gelu,
                                     .elementwise = true,
                                     .samples = {"f32[3,4], f32[4]"}};
TVC_DEFINE_OP(kMicrosoftGelu) = {.name = "com.microsoft.Gelu",
                                 .infer = infer_same_as_input,
                                 .express = express_biased_gelu,
                                 .elementwise = true,
                                 .samples = {"f32[3,4]"}};

}  // namespace tvc::ops

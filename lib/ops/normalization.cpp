// SPDX-License-Identifier: Apache-2.0
// Normalisations as decompositions, so that a kernel may take the node whole:
// LayerNormalization, RMSNormalization: over the axes from `axis` on; InstanceNormalization, GroupNormalization: over
// the spatial axes of each channel or group; BatchNormalization: y = (x - mean) / sqrt(var + epsilon) * scale + B, one
// number a channel.
#include <numeric>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using Values = Result<std::vector<ir::ValueId>>;

// Sums of half precision run in f32; the result is rounded once.
Result<ir::ValueId> widened(DecomposeContext& c, ir::ValueId x) {
  if (ir::bit_width(c.module().value(x).type.dtype) >= 32) return x;
  return c.add("Cast", {x}, {{"to", int64_t{1}}});
}

Result<ir::ValueId> narrowed(DecomposeContext& c, ir::ValueId y, DType dtype) {
  if (c.module().value(y).type.dtype == dtype) return y;
  return c.add("Cast", {y}, {{"to", static_cast<int64_t>(dtype)}});
}

struct Moments {
  ir::ValueId centred, mean, inverse;  // inverse: 1 / sqrt(variance + epsilon)
};

Result<Moments> moments(DecomposeContext& c, ir::ValueId x, ir::ValueId axes, double epsilon) {
  Moments m;
  TVC_TRY(m.mean, c.add("ReduceMean", {x, axes}));
  TVC_TRY(m.centred, c.add("Sub", {x, m.mean}));
  TVC_TRY(auto square, c.add("Mul", {m.centred, m.centred}));
  TVC_TRY(auto variance, c.add("ReduceMean", {square, axes}));
  TVC_TRY(auto sum, c.add("Add", {variance, c.scalar(c.module().value(x).type.dtype, epsilon)}));
  TVC_TRY(auto root, c.add("Sqrt", {sum}));
  TVC_TRY(m.inverse, c.add("Reciprocal", {root}));
  return m;
}

Result<ir::ValueId> axes_from(DecomposeContext& c, int64_t otherwise) {
  TVC_TRY(int axis, c.axis(c.i("axis", otherwise), c.rank(0)));
  std::vector<int64_t> axes(static_cast<size_t>(c.rank(0) - axis));
  std::iota(axes.begin(), axes.end(), axis);
  return c.ints(axes);
}

Result<void> infer_layer_norm(InferContext& c) {
  TVC_TRY(int axis, c.axis(c.i("axis", -1), c.rank(0)));
  c.set(0, c.type(0));
  Shape reduced = c.shape(0);
  for (size_t k = static_cast<size_t>(axis); k < reduced.size(); ++k) reduced[k] = 1;
  c.set(1, DType::kF32, reduced);
  c.set(2, DType::kF32, reduced);
  return {};
}

Values decompose_layer_norm(DecomposeContext& c) {
  const DType stored = c.dtype(0);
  TVC_TRY(auto axes, axes_from(c, -1));
  TVC_TRY(auto x, widened(c, c.in(0)));
  TVC_TRY(auto m, moments(c, x, axes, c.f("epsilon", 1e-5)));
  TVC_TRY(auto y, c.add("Mul", {m.centred, m.inverse}));
  TVC_TRY(y, narrowed(c, y, stored));
  TVC_TRY(y, c.add("Mul", {y, c.in(1)}));
  if (c.has_input(2)) {
    TVC_TRY(y, c.add("Add", {y, c.in(2)}));
  }
  return std::vector<ir::ValueId>{y, m.mean, m.inverse};
}

Values decompose_rms_norm(DecomposeContext& c) {
  const DType stored = c.dtype(0);
  TVC_TRY(auto axes, axes_from(c, -1));
  TVC_TRY(auto x, widened(c, c.in(0)));
  TVC_TRY(auto square, c.add("Mul", {x, x}));
  TVC_TRY(auto mean, c.add("ReduceMean", {square, axes}));
  TVC_TRY(auto sum, c.add("Add", {mean, c.scalar(c.module().value(x).type.dtype, c.f("epsilon", 1e-5))}));
  TVC_TRY(auto root, c.add("Sqrt", {sum}));
  TVC_TRY(auto y, c.add("Div", {x, root}));
  TVC_TRY(y, narrowed(c, y, stored));
  TVC_TRY(y, c.add("Mul", {y, c.in(1)}));
  return std::vector<ir::ValueId>{y};
}

// A vector of channels as [C, 1, ...], to broadcast against [N, C, ...].
Result<ir::ValueId> per_channel(DecomposeContext& c, ir::ValueId vector) {
  std::vector<int64_t> axes(static_cast<size_t>(c.rank(0) - 2));
  std::iota(axes.begin(), axes.end(), 1);
  if (axes.empty()) return vector;
  return c.add("Unsqueeze", {vector, c.ints(axes)});
}

Result<ir::ValueId> scaled(DecomposeContext& c, ir::ValueId x, ir::ValueId scale, ir::ValueId bias) {
  TVC_TRY(auto s, per_channel(c, scale));
  TVC_TRY(auto b, per_channel(c, bias));
  TVC_TRY(auto y, c.add("Mul", {x, s}));
  return c.add("Add", {y, b});
}

Values decompose_instance_norm(DecomposeContext& c) {
  std::vector<int64_t> axes(static_cast<size_t>(c.rank(0) - 2));
  std::iota(axes.begin(), axes.end(), 2);
  TVC_TRY(auto x, widened(c, c.in(0)));
  TVC_TRY(auto m, moments(c, x, c.ints(axes), c.f("epsilon", 1e-5)));
  TVC_TRY(auto y, c.add("Mul", {m.centred, m.inverse}));
  TVC_TRY(y, narrowed(c, y, c.dtype(0)));
  TVC_TRY(y, scaled(c, y, c.in(1), c.in(2)));
  return std::vector<ir::ValueId>{y};
}

Values decompose_group_norm(DecomposeContext& c) {
  const int64_t groups = c.i("num_groups", 1);
  TVC_TRY(auto x, widened(c, c.in(0)));
  TVC_TRY(auto rows, c.add("Reshape", {x, c.ints({0, groups, -1})}));
  TVC_TRY(auto m, moments(c, rows, c.ints({2}), c.f("epsilon", 1e-5)));
  TVC_TRY(auto y, c.add("Mul", {m.centred, m.inverse}));
  TVC_TRY(auto shape, c.add("Shape", {c.in(0)}));
  TVC_TRY(y, c.add("Reshape", {y, shape}));
  TVC_TRY(y, narrowed(c, y, c.dtype(0)));
  TVC_TRY(y, scaled(c, y, c.in(1), c.in(2)));
  return std::vector<ir::ValueId>{y};
}

Result<void> infer_batch_norm(InferContext& c) {
  if (c.rank(0) < 2) return bad_input("the input has rank {}", c.rank(0));
  c.set(0, c.type(0));
  c.set(1, c.type(3));
  c.set(2, c.type(4));
  return {};
}

// Statistics over all axes but the channels', and the running ones: momentum * old + (1 - momentum) * new.
struct BatchStatistics {
  ir::ValueId mean, variance, running_mean, running_variance;
};

Result<BatchStatistics> batch_statistics(DecomposeContext& c, ir::ValueId x) {
  std::vector<int64_t> axes = {0};
  for (int k = 2; k < c.rank(0); ++k) axes.push_back(k);
  const ir::ValueId over = c.ints(axes);
  BatchStatistics s;
  TVC_TRY(auto kept, c.add("ReduceMean", {x, over}));
  TVC_TRY(auto centred, c.add("Sub", {x, kept}));
  TVC_TRY(auto square, c.add("Mul", {centred, centred}));
  TVC_TRY(s.mean, c.add("ReduceMean", {x, over}, {{"keepdims", int64_t{0}}}));
  TVC_TRY(s.variance, c.add("ReduceMean", {square, over}, {{"keepdims", int64_t{0}}}));
  const double momentum = c.f("momentum", 0.9);
  auto running = [&](ir::ValueId old, ir::ValueId now) -> Result<ir::ValueId> {
    const DType dtype = c.module().value(old).type.dtype;
    TVC_TRY(now, narrowed(c, now, dtype));
    TVC_TRY(auto a, c.add("Mul", {old, c.scalar(dtype, momentum)}));
    TVC_TRY(auto b, c.add("Mul", {now, c.scalar(dtype, 1 - momentum)}));
    return c.add("Add", {a, b});
  };
  TVC_TRY(s.running_mean, running(c.in(3), s.mean));
  TVC_TRY(s.running_variance, running(c.in(4), s.variance));
  return s;
}

// X, scale and B, mean and variance may have three different types: all is computed in that of X, widened.
Values decompose_batch_norm(DecomposeContext& c) {
  std::vector<ir::ValueId> out(3, ir::kNone);
  TVC_TRY(auto x, widened(c, c.in(0)));
  const DType dtype = c.module().value(x).type.dtype;
  ir::ValueId mean = c.in(3), variance = c.in(4);
  if (c.i("training_mode", 0) != 0) {
    TVC_TRY(auto s, batch_statistics(c, x));
    mean = s.mean;
    variance = s.variance;
    out = {ir::kNone, s.running_mean, s.running_variance};
  }
  TVC_TRY(mean, narrowed(c, mean, dtype));
  TVC_TRY(variance, narrowed(c, variance, dtype));
  TVC_TRY(auto factor, narrowed(c, c.in(1), dtype));
  TVC_TRY(auto bias, narrowed(c, c.in(2), dtype));
  TVC_TRY(auto sum, c.add("Add", {variance, c.scalar(dtype, c.f("epsilon", 1e-5))}));
  TVC_TRY(auto root, c.add("Sqrt", {sum}));
  TVC_TRY(factor, c.add("Div", {factor, root}));
  TVC_TRY(auto m, per_channel(c, mean));
  TVC_TRY(auto centred, c.add("Sub", {x, m}));
  TVC_TRY(auto y, scaled(c, centred, factor, bias));
  TVC_TRY(out[0], narrowed(c, y, c.dtype(0)));
  return out;
}

Values decompose_lp_normalization(DecomposeContext& c) {
  ir::ValueId axes = c.ints({c.i("axis", -1)});
  TVC_TRY(auto norm, c.add(c.i("p", 2) == 1 ? "ReduceL1" : "ReduceL2", {c.in(0), axes}));
  TVC_TRY(auto is_zero, c.add("Equal", {norm, c.scalar(c.dtype(0), 0)}));
  TVC_TRY(auto divisor, c.add("Where", {is_zero, c.scalar(c.dtype(0), 1), norm}));
  TVC_TRY(auto y, c.add("Div", {c.in(0), divisor}));
  return std::vector<ir::ValueId>{y};
}

// y = x / (bias + alpha / size * sum over neighbouring channels of x^2) ^ beta
Result<std::vector<te::TensorExpr>> express_lrn(const NodeView& v) {
  const int64_t size = v.i("size", 1);
  auto axes = axes_of(v.shape(0));
  std::vector<te::Expr> self;
  for (const auto& axis : axes) self.push_back(te::var(axis.var));
  te::Axis tap{te::fresh_var(), size};
  auto at = self;
  at[1] = self[1] + te::var(tap.var) - te::index((size - 1) / 2);
  te::Expr x = te::read(0, v.dtype(0), self), near = te::read(0, v.dtype(0), at);
  auto num = [&](double value) { return te::number(x->dtype, value); };
  te::Expr sum =
      te::reduce(te::ReduceOp::kSum, {tap}, te::select(te::in_range(at[1], v.shape(0)[1]), near * near, num(0)));
  te::Expr base = num(v.f("bias", 1)) + num(v.f("alpha", 0.0001) / static_cast<double>(size)) * sum;
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, x / te::binary(te::Op::kPow, base, num(v.f("beta", 0.75)))}};
}

}  // namespace

TVC_DEFINE_OP(kLayerNormalization) = {.name = "LayerNormalization",
                                      .infer = infer_layer_norm,
                                      .decompose = decompose_layer_norm,
                                      .samples = {"f32[2,3,8], f32[8], f32[8]"}};
TVC_DEFINE_OP(kRMSNormalization) = {.name = "RMSNormalization",
                                    .infer = infer_same_as_input,
                                    .decompose = decompose_rms_norm,
                                    .samples = {"f32[2,3,8], f32[8]"}};
TVC_DEFINE_OP(kInstanceNormalization) = {.name = "InstanceNormalization",
                                         .infer = infer_same_as_input,
                                         .decompose = decompose_instance_norm,
                                         .samples = {"f32[2,3,5], f32[3], f32[3]"}};
TVC_DEFINE_OP(kGroupNormalization) = {.name = "GroupNormalization",
                                      .infer = infer_same_as_input,
                                      .decompose = decompose_group_norm,
                                      .samples = {"f32[2,4,5], f32[4], f32[4] | num_groups=2"}};
TVC_DEFINE_OP(kBatchNormalization) = {
    .name = "BatchNormalization",
    .infer = infer_batch_norm,
    .decompose = decompose_batch_norm,
    .samples = {"f32[2,3,4], f32[3], f32[3], f32[3], f32[3]", "f16[2,3], f16[3], f16[3], f32[3], f32[3]"}};
TVC_DEFINE_OP(kLpNormalization) = {.name = "LpNormalization",
                                   .infer = infer_same_as_input,
                                   .decompose = decompose_lp_normalization,
                                   .samples = {"f32[3,4]"}};
TVC_DEFINE_OP(kLRN) = {
    .name = "LRN", .infer = infer_same_as_input, .express = express_lrn, .samples = {"f32[1,5,2,2] | size=3"}};

}  // namespace tvc::ops

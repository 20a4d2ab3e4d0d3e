// SPDX-License-Identifier: Apache-2.0
// Pools over the blocked layout: x, y [N, C/16, H, W, 16]. As ONNX's MaxPool, AveragePool and GlobalAveragePool, whose
// attributes they take.
#include <limits>

#include "ops/blocked.h"

namespace tvc::ops {
namespace {

Result<void> check_blocked(const NodeView& view) {
  if (view.rank(0) != 5 || !view.shape(0)[4].is(kChannelBlock))
    return bad_input("the operand is not in the blocked layout");
  if (view.dtype(0) != DType::kF32) return unsupported("only f32 has a blocked layout");
  return {};
}

Result<void> infer_pool(InferContext& c) {
  TVC_CHECK_OK(check_blocked(c));
  TVC_TRY(Window w, blocked_window(c));
  c.set(0, c.dtype(0), {c.shape(0)[0], c.shape(0)[1], w.out[0], w.out[1], kChannelBlock});
  return {};
}

// The window over one output element: its reduction axes, its place in the input, and whether that lies inside.
struct Tap {
  std::vector<te::Axis> axes;
  std::array<te::Expr, 2> at;
  te::Expr inside;
};

Tap tap_of(const Window& w, const Shape& in, const std::vector<te::Axis>& out) {
  Tap tap;
  tap.inside = te::boolean(true);
  for (size_t k = 0; k < 2; ++k) {
    tap.axes.push_back({te::fresh_var(), w.kernel[k]});
    tap.at[k] = te::var(out[2 + k].var) * te::index(w.stride[k]) + te::var(tap.axes[k].var) * te::index(w.dilation[k]) -
                te::dim(w.pad_begin[k]);
    tap.inside = te::land(tap.inside, te::in_range(tap.at[k], in[k]));
  }
  return tap;
}

te::Expr read_at(const std::vector<te::Axis>& out, const Tap& tap) {
  return te::read(0, DType::kF32,
                  {te::var(out[0].var), te::var(out[1].var), tap.at[0], tap.at[1], te::var(out[4].var)});
}

Result<std::vector<te::TensorExpr>> express_max_pool(const NodeView& view) {
  const auto in = blocked_spatial_shape(view.shape(0));
  TVC_TRY(Window w, blocked_window(view));
  auto axes = axes_of(view.out_type(0).shape);
  Tap tap = tap_of(w, in, axes);
  te::Expr lowest = te::number(DType::kF32, -std::numeric_limits<double>::infinity());
  te::Expr body = te::reduce(te::ReduceOp::kMax, tap.axes, te::select(tap.inside, read_at(axes, tap), lowest));
  return std::vector<te::TensorExpr>{{DType::kF32, std::move(axes), std::move(body)}};
}

// The divisor counts the places inside the input, or with count_include_pad those inside the padded input.
Result<std::vector<te::TensorExpr>> express_average_pool(const NodeView& view) {
  const auto in = blocked_spatial_shape(view.shape(0));
  TVC_TRY(Window w, blocked_window(view));
  auto axes = axes_of(view.out_type(0).shape);
  Tap tap = tap_of(w, in, axes), counted = tap_of(w, in, axes);
  te::Expr zero = te::number(DType::kF32, 0), one = te::number(DType::kF32, 1);
  te::Expr inside = counted.inside;
  if (view.i("count_include_pad", 0) != 0) {
    inside = te::boolean(true);
    for (size_t k = 0; k < 2; ++k) inside = te::land(inside, te::lt(counted.at[k], te::dim(in[k] + w.pad_end[k])));
  }
  te::Expr sum = te::reduce(te::ReduceOp::kSum, tap.axes, te::select(tap.inside, read_at(axes, tap), zero));
  te::Expr count = te::reduce(te::ReduceOp::kSum, counted.axes, te::select(inside, one, zero));
  return std::vector<te::TensorExpr>{{DType::kF32, std::move(axes), sum / count}};
}

Result<void> infer_global_pool(InferContext& c) {
  TVC_CHECK_OK(check_blocked(c));
  c.set(0, c.dtype(0), {c.shape(0)[0], c.shape(0)[1], 1, 1, kChannelBlock});
  return {};
}

Result<std::vector<te::TensorExpr>> express_global_average_pool(const NodeView& view) {
  const auto in = blocked_spatial_shape(view.shape(0));
  auto axes = axes_of(view.out_type(0).shape);
  te::Axis y{te::fresh_var(), in[0]}, x{te::fresh_var(), in[1]};
  te::Expr element =
      te::read(0, DType::kF32,
               {te::var(axes[0].var), te::var(axes[1].var), te::var(y.var), te::var(x.var), te::var(axes[4].var)});
  te::Expr sum = te::reduce(te::ReduceOp::kSum, {y, x}, element);
  te::Expr body = sum / te::cast(DType::kF32, te::dim(in[0] * in[1]));
  return std::vector<te::TensorExpr>{{DType::kF32, std::move(axes), std::move(body)}};
}

}  // namespace

TVC_DEFINE_OP(kMaxPoolBlocked) = {
    .name = "tvc.MaxPoolBlocked",
    .infer = infer_pool,
    .express = express_max_pool,
    .samples = {"f32[1,2,7,9,16] | kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]"},
};

TVC_DEFINE_OP(kAveragePoolBlocked) = {
    .name = "tvc.AveragePoolBlocked",
    .infer = infer_pool,
    .express = express_average_pool,
    .samples = {"f32[1,2,7,9,16] | kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]",
                "f32[1,1,6,6,16] | kernel_shape=[3,3] strides=[2,2] ceil_mode=1 count_include_pad=1"},
};

TVC_DEFINE_OP(kGlobalAveragePoolBlocked) = {
    .name = "tvc.GlobalAveragePoolBlocked",
    .infer = infer_global_pool,
    .express = express_global_average_pool,
    .samples = {"f32[2,3,5,7,16]"},
};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// tvc.ToBlocked: y[n, b, h, w, i] = x[n, 16 b + i, h, w], 0 behind the last channel.
// tvc.FromBlocked {channels}: y[n, c, h, w] = x[n, c / 16, h, w, c % 16].
#include "ops/blocked.h"

namespace tvc::ops {

Result<Window> blocked_window(const NodeView& view) {
  TVC_TRY(Window w, window_of(view, blocked_spatial_shape(view.shape(0))));
  if (w.rank() != 2) return bad_input("the kernel has {} axes, not 2", w.rank());
  return w;
}

Result<Window> blocked_transposed_window(const NodeView& view) {
  std::vector<int64_t> kernel;
  for (const Dim& size : blocked_spatial_shape(view.shape(1))) {
    auto n = size.as_constant();
    if (!n) return unsupported("the weights' sizes must be known");
    kernel.push_back(*n);
  }
  TVC_TRY(Window w, transposed_window_of(view, blocked_spatial_shape(view.shape(0)), kernel));
  if (w.rank() != 2) return bad_input("the kernel has {} axes, not 2", w.rank());
  return w;
}

namespace {

Result<void> infer_to_blocked(InferContext& c) {
  if (c.rank(0) != 4) return bad_input("the operand must have rank 4, not {}", c.rank(0));
  Shape shape = c.shape(0);
  shape[1] = ceil_div(shape[1], kChannelBlock);
  shape.emplace_back(kChannelBlock);
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Result<std::vector<te::TensorExpr>> express_to_blocked(const NodeView& view) {
  const ir::Type& out = view.out_type(0);
  auto axes = axes_of(out.shape);
  auto at = [&](size_t k) { return te::var(axes[k].var); };
  const Dim& channels = view.shape(0)[1];
  te::Expr channel = at(1) * te::index(kChannelBlock) + at(4);
  te::Expr value = te::read(0, view.dtype(0), {at(0), channel, at(2), at(3)});
  if (!mod(channels, kChannelBlock).is(0)) {
    DType compute = ir::compute_type(out.dtype);
    te::Expr zero = ir::is_float(compute) ? te::number(compute, 0) : te::integer(compute, 0);
    value = te::select(te::lt(channel, te::dim(channels)), value, zero);
  }
  return std::vector<te::TensorExpr>{{out.dtype, std::move(axes), std::move(value)}};
}

Result<void> infer_from_blocked(InferContext& c) {
  const int64_t channels = c.i("channels", 0);
  if (c.rank(0) != 5 || !c.shape(0)[4].is(kChannelBlock)) return bad_input("the operand is not in the blocked layout");
  if (channels < 1 || !c.shape(0)[1].is((channels + kChannelBlock - 1) / kChannelBlock))
    return bad_input("the operand does not have {} channels", channels);
  c.set(0, c.dtype(0), {c.shape(0)[0], channels, c.shape(0)[2], c.shape(0)[3]});
  return {};
}

Result<std::vector<te::TensorExpr>> express_from_blocked(const NodeView& view) {
  const ir::Type& out = view.out_type(0);
  auto axes = axes_of(out.shape);
  auto at = [&](size_t k) { return te::var(axes[k].var); };
  te::Expr block = te::index(kChannelBlock);
  te::Expr value =
      te::read(0, view.dtype(0), {at(0), at(1) / block, at(2), at(3), te::binary(te::Op::kRem, at(1), block)});
  return std::vector<te::TensorExpr>{{out.dtype, std::move(axes), std::move(value)}};
}

}  // namespace

TVC_DEFINE_OP(kToBlocked) = {
    .name = "tvc.ToBlocked",
    .infer = infer_to_blocked,
    .express = express_to_blocked,
    .samples = {"f32[2,16,3,5]", "f32[1,19,2,7]", "f32[1,3,4,4]"},
};

TVC_DEFINE_OP(kFromBlocked) = {
    .name = "tvc.FromBlocked",
    .infer = infer_from_blocked,
    .express = express_from_blocked,
    .samples = {"f32[2,1,3,5,16] | channels=16", "f32[1,2,2,7,16] | channels=19"},
};

}  // namespace tvc::ops

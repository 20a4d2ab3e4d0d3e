// SPDX-License-Identifier: Apache-2.0
// Convolutions that write the blocked layout; X [N, C/16, H, W, 16] (or [N, C, H, W]: in_layout "planar"), W as in
// ONNX. tvc.ConvBlocked: y[n, o, p, q] = b[o] + sum over i, u, v of
//     x[n, g C/G + i, p s - pad + u d, q s - pad + v d] * w[o, i, u, v],   g the group of o.
// tvc.ConvTransposeBlocked (one group): y[n, o, p, q] = b[o] + sum over i, u, v with (p + pad - u d) a multiple of s of
//     x[n, i, (p + pad - u d) / s, (q + pad - v d) / s] * w[i, o, u, v].
// Both may carry an epilogue (ops/body.h). out_layout "planar": the result, after the epilogue, as [N, C, H, W].
#include <array>

#include "ops/blocked.h"
#include "ops/body.h"

namespace tvc::ops {
namespace {

struct Channels {
  int64_t in = 0, out = 0, group = 1;
  bool planar = false, planar_out = false;
};

Result<Channels> channels_of(const NodeView& view) {
  Channels c{view.i("in_channels", 0), view.i("out_channels", 0), view.i("group", 1),
             view.s("in_layout", "blocked") == "planar", view.s("out_layout", "blocked") == "planar"};
  if (c.in < 1 || c.out < 1 || c.group < 1 || c.in % c.group != 0 || c.out % c.group != 0)
    return bad_input("{} input and {} output channels in {} groups", c.in, c.out, c.group);
  const int64_t expected = c.planar ? c.in : (c.in + kChannelBlock - 1) / kChannelBlock;
  if (view.rank(0) != (c.planar ? 4 : 5) || !view.shape(0)[1].is(expected) ||
      (!c.planar && !view.shape(0)[4].is(kChannelBlock)))
    return bad_input("the operand does not have {} channels", c.in);
  if (view.rank(1) != 4) return bad_input("the weights must have rank 4");
  return c;
}

Shape blocked_shape(const Dim& images, int64_t channels, const Window& w) {
  return {images, (channels + kChannelBlock - 1) / kChannelBlock, w.out[0], w.out[1], kChannelBlock};
}

Result<void> set_output(InferContext& c, const Channels& channels, const Window& w) {
  c.set(0, c.dtype(0), blocked_shape(c.shape(0)[0], channels.out, w));
  TVC_CHECK_OK(infer_epilogue(c));
  if (channels.planar_out) c.set(0, c.out_type(0).dtype, {c.shape(0)[0], channels.out, w.out[0], w.out[1]});
  return {};
}

Result<void> infer_conv(InferContext& c) {
  TVC_TRY(Channels channels, channels_of(c));
  TVC_TRY(Window w, blocked_window(c));
  const Shape& weights = c.shape(1);
  if (!weights[0].is(channels.out) || !weights[1].is(channels.in / channels.group) || !weights[2].is(w.kernel[0]) ||
      !weights[3].is(w.kernel[1]))
    return bad_input("the weights do not fit {} -> {} channels and the kernel", channels.in, channels.out);
  return set_output(c, channels, w);
}

// Parts of both expressions: the output's axes, the output channel, and the guarded sum.
struct Body {
  std::vector<te::Axis> axes;
  te::Expr channel;
  explicit Body(const Shape& out) : axes(axes_of(out)) { channel = at(1) * te::index(kChannelBlock) + at(4); }
  te::Expr at(size_t k) const { return te::var(axes[k].var); }
};

te::Expr input_at(const Channels& c, const te::Expr& n, const te::Expr& channel, const te::Expr& y, const te::Expr& x) {
  if (c.planar) return te::read(0, DType::kF32, {n, channel, y, x});
  te::Expr block = te::index(kChannelBlock);
  return te::read(0, DType::kF32, {n, channel / block, y, x, te::binary(te::Op::kRem, channel, block)});
}

te::Expr guarded(const te::Expr& condition, const te::Expr& value) {
  return te::select(condition, value, te::number(DType::kF32, 0));
}

te::TensorExpr in_planar_layout(const te::TensorExpr& blocked, const Shape& shape) {
  auto axes = axes_of(shape);
  auto at = [&](size_t k) { return te::var(axes[k].var); };
  const te::Expr block = te::index(kChannelBlock);
  const std::array<te::Expr, 5> index = {at(0), at(1) / block, at(2), at(3), te::binary(te::Op::kRem, at(1), block)};
  te::Expr body = te::substitute_vars(blocked.body, [&](int id) -> te::Expr {
    for (size_t k = 0; k < index.size(); ++k)
      if (blocked.axes[k].var == id) return index[k];
    return nullptr;
  });
  return {blocked.dtype, std::move(axes), std::move(body)};
}

Result<std::vector<te::TensorExpr>> finish(const NodeView& view, const Channels& c, Body body, te::Expr sum) {
  if (view.has_input(2)) sum = sum + te::read(2, DType::kF32, {body.channel});
  if (c.out % kChannelBlock != 0) sum = guarded(te::lt(body.channel, te::index(c.out)), sum);
  TVC_TRY(te::TensorExpr result, with_epilogue(view, {DType::kF32, std::move(body.axes), std::move(sum)}));
  if (c.planar_out) result = in_planar_layout(result, view.out_type(0).shape);
  return std::vector<te::TensorExpr>{std::move(result)};
}

Result<std::vector<te::TensorExpr>> express_conv(const NodeView& view) {
  if (view.dtype(0) != DType::kF32 || view.dtype(1) != DType::kF32) return unsupported("only f32 has a blocked layout");
  TVC_TRY(Channels c, channels_of(view));
  const auto in = blocked_spatial_shape(view.shape(0));
  TVC_TRY(Window w, blocked_window(view));
  Body body(blocked_shape(view.shape(0)[0], c.out, w));
  te::Axis i{te::fresh_var(), c.in / c.group}, u{te::fresh_var(), w.kernel[0]}, v{te::fresh_var(), w.kernel[1]};
  auto place = [&](size_t k, const te::Axis& tap) {
    return body.at(2 + k) * te::index(w.stride[k]) + te::var(tap.var) * te::index(w.dilation[k]) -
           te::dim(w.pad_begin[k]);
  };
  te::Expr y = place(0, u), x = place(1, v), channel = te::var(i.var);
  if (c.group > 1) channel = body.channel / te::index(c.out / c.group) * te::index(c.in / c.group) + channel;
  te::Expr product = input_at(c, body.at(0), channel, y, x) *
                     te::read(1, DType::kF32, {body.channel, te::var(i.var), te::var(u.var), te::var(v.var)});
  te::Expr term = guarded(te::land(te::in_range(y, in[0]), te::in_range(x, in[1])), product);
  return finish(view, c, std::move(body), te::reduce(te::ReduceOp::kSum, {i, u, v}, term));
}

Result<void> infer_conv_transpose(InferContext& c) {
  TVC_TRY(Channels channels, channels_of(c));
  if (channels.group != 1) return bad_input("the blocked layout takes one group");
  TVC_TRY(Window w, blocked_transposed_window(c));
  const Shape& weights = c.shape(1);
  if (!weights[0].is(channels.in) || !weights[1].is(channels.out) || !weights[2].is(w.kernel[0]) ||
      !weights[3].is(w.kernel[1]))
    return bad_input("the weights do not fit {} -> {} channels and the kernel", channels.in, channels.out);
  return set_output(c, channels, w);
}

Result<std::vector<te::TensorExpr>> express_conv_transpose(const NodeView& view) {
  if (view.dtype(0) != DType::kF32 || view.dtype(1) != DType::kF32) return unsupported("only f32 has a blocked layout");
  TVC_TRY(Channels c, channels_of(view));
  const auto in = blocked_spatial_shape(view.shape(0));
  TVC_TRY(Window w, blocked_transposed_window(view));
  Body body(blocked_shape(view.shape(0)[0], c.out, w));
  te::Axis i{te::fresh_var(), c.in}, u{te::fresh_var(), w.kernel[0]}, v{te::fresh_var(), w.kernel[1]};
  te::Expr condition = te::boolean(true);
  std::array<te::Expr, 2> place;
  for (size_t k = 0; k < 2; ++k) {
    te::Expr scaled =
        body.at(2 + k) + te::dim(w.pad_begin[k]) - te::var((k == 0 ? u : v).var) * te::index(w.dilation[k]);
    place[k] = scaled / te::index(w.stride[k]);
    te::Expr whole = te::eq(te::binary(te::Op::kRem, scaled, te::index(w.stride[k])), te::index(0));
    condition =
        te::land(condition, te::land(te::ge(scaled, te::index(0)), te::land(whole, te::lt(place[k], te::dim(in[k])))));
  }
  te::Expr product = input_at(c, body.at(0), te::var(i.var), place[0], place[1]) *
                     te::read(1, DType::kF32, {te::var(i.var), body.channel, te::var(u.var), te::var(v.var)});
  return finish(view, c, std::move(body), te::reduce(te::ReduceOp::kSum, {i, u, v}, guarded(condition, product)));
}

}  // namespace

TVC_DEFINE_OP(kConvBlocked) = {
    .name = "tvc.ConvBlocked",
    .infer = infer_conv,
    .express = express_conv,
    .tolerance = {.relative = 1e-4, .absolute = 1e-5},
    .samples = {"f32[1,2,5,7,16], f32[20,32,3,3], f32[20] | kernel_shape=[3,3] pads=[1,1,1,1] in_channels=32 "
                "out_channels=20",
                "f32[1,3,9,8], f32[16,3,3,3] | kernel_shape=[3,3] strides=[2,2] in_channels=3 out_channels=16 "
                "in_layout=\"planar\""},
};

TVC_DEFINE_OP(kConvTransposeBlocked) = {
    .name = "tvc.ConvTransposeBlocked",
    .infer = infer_conv_transpose,
    .express = express_conv_transpose,
    .tolerance = {.relative = 1e-4, .absolute = 1e-5},
    .samples = {"f32[1,1,3,4,16], f32[16,20,2,2], f32[20] | strides=[2,2] in_channels=16 out_channels=20"},
};

}  // namespace tvc::ops

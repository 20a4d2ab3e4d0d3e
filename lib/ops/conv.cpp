// SPDX-License-Identifier: Apache-2.0
// Conv: y[n, o, p] = b[o] + sum over i, t of x[n, g C/G + i, p stride + t dilation - pad] * w[o, i, t], g the group of
// o; ConvTranspose: y[n, o, q] = b[o] + sum over i, t with q + pad - t dilation = p stride of x[n, i, p] * w[i, o, t].
// ConvInteger: Conv over integers less their zero points.
#include "ops/body.h"
#include "ops/products.h"
#include "ops/window.h"

namespace tvc::ops {
namespace {

using te::Expr;
using Expressions = Result<std::vector<te::TensorExpr>>;

Result<std::vector<int64_t>> kernel_of(const NodeView& v, size_t weights) {
  std::vector<int64_t> kernel;
  for (const Dim& d : spatial_shape(v.shape(weights))) {
    if (!d.is_constant()) return unsupported("the kernel's size is not known at compile time");
    kernel.push_back(d.constant());
  }
  return kernel;
}

Result<int64_t> group_of(const NodeView& v, size_t weights = 1) {
  const int64_t group = v.i("group", 1);
  if (group < 1) return bad_input("group is {}", group);
  if (v.rank(0) < 3 || v.rank(weights) != v.rank(0))
    return bad_input("the input has rank {}, the weights {}", v.rank(0), v.rank(weights));
  return group;
}

}  // namespace

Result<void> infer_convolution(InferContext& c, DType dtype, size_t weights) {
  TVC_TRY(int64_t group, group_of(c, weights));
  const Shape &x = c.shape(0), &w = c.shape(weights);
  if (x[1].is_constant() && w[1].is_constant() && x[1].constant() != w[1].constant() * group)
    return bad_input("the input has {} channels, the weights take {} in {} groups", x[1].text(), w[1].text(), group);
  if (w[0].is_constant() && w[0].constant() % group != 0)
    return bad_input("{} output channels do not divide into {} groups", w[0].text(), group);
  TVC_TRY(auto kernel, kernel_of(c, weights));
  TVC_TRY(Window window, window_of(c, spatial_shape(x), std::move(kernel)));
  Shape out = {x[0], w[0]};
  out.insert(out.end(), window.out.begin(), window.out.end());
  c.set(0, dtype, std::move(out));
  return {};
}

namespace {

Result<void> infer_conv(InferContext& c) {
  TVC_CHECK_OK(infer_convolution(c, c.dtype(0)));
  return infer_epilogue(c);
}

// The reduction; `x_at` and `w_at` give operands as the type of the sum.
template <typename ReadX, typename ReadW>
Result<std::pair<std::vector<te::Axis>, Expr>> convolution(const NodeView& v, ReadX&& x_at, ReadW&& w_at) {
  TVC_TRY(int64_t group, group_of(v));
  TVC_TRY(auto kernel, kernel_of(v, 1));
  const Shape in = spatial_shape(v.shape(0));
  TVC_TRY(Window w, window_of(v, in, std::move(kernel)));
  auto out = axes_of(v.out_type(0).shape);
  te::Axis channel{te::fresh_var(), v.shape(1)[1]};
  auto taps = tap_axes(w);
  Expr o = te::var(out[1].var), i = te::var(channel.var);
  Expr input_channel = i;
  if (group > 1) {
    Dim per_group = ir::floor_div(v.shape(1)[0], group);
    input_channel = o / te::dim(per_group) * te::dim(v.shape(1)[1]) + i;
  }
  std::vector<Expr> at_x = {te::var(out[0].var), input_channel}, at_w = {o, i};
  Expr inside = te::boolean(true);
  for (size_t k = 0; k < w.rank(); ++k) {
    Expr position = tap_position(w, k, te::var(out[2 + k].var), te::var(taps[k].var));
    if (!w.pad_begin[k].is(0) || !w.pad_end[k].is(0)) inside = te::land(inside, te::in_range(position, in[k]));
    at_x.push_back(position);
    at_w.push_back(te::var(taps[k].var));
  }
  Expr product = x_at(at_x) * w_at(at_w, o);
  Expr zero = ir::is_float(product->dtype) ? te::number(product->dtype, 0) : te::integer(product->dtype, 0);
  std::vector<te::Axis> over = {channel};
  over.insert(over.end(), taps.begin(), taps.end());
  return std::pair(out, te::reduce(te::ReduceOp::kSum, over, te::select(inside, product, zero)));
}

Expressions express_conv(const NodeView& v) {
  auto read = [&](int k) {
    return [&v, k](const std::vector<Expr>& at, auto&&...) { return te::read(k, v.dtype(static_cast<size_t>(k)), at); };
  };
  TVC_TRY(auto result, convolution(v, read(0), read(1)));
  Expr sum = result.second;
  if (v.has_input(2)) sum = sum + te::read(2, v.dtype(2), {te::var(result.first[1].var)});
  TVC_TRY(auto expression, with_epilogue(v, {v.dtype(0), result.first, sum}));
  return std::vector<te::TensorExpr>{std::move(expression)};
}

Result<void> infer_conv_integer(InferContext& c) {
  if ((c.has_input(2) && c.rank(2) > 1) || (c.has_input(3) && c.rank(3) > 1))
    return bad_input("a zero point has a rank above 1");
  return infer_convolution(c, DType::kI32);
}

Expressions express_conv_integer(const NodeView& v) {
  auto x_at = [&](const std::vector<Expr>& at) {
    Expr x = te::cast(DType::kI32, te::read(0, v.dtype(0), at));
    if (!v.has_input(2)) return x;
    std::vector<Expr> zero(static_cast<size_t>(v.rank(2)), te::index(0));
    return x - te::cast(DType::kI32, te::read(2, v.dtype(2), zero));
  };
  auto w_at = [&](const std::vector<Expr>& at, const Expr& o) {
    Expr w = te::cast(DType::kI32, te::read(1, v.dtype(1), at));
    if (!v.has_input(3)) return w;
    std::vector<Expr> zero;
    if (v.rank(3) == 1) zero.push_back(v.shape(3)[0].is(1) ? te::index(0) : o);
    return w - te::cast(DType::kI32, te::read(3, v.dtype(3), zero));
  };
  TVC_TRY(auto result, convolution(v, x_at, w_at));
  return std::vector<te::TensorExpr>{{DType::kI32, result.first, result.second}};
}

Result<void> infer_conv_transpose(InferContext& c) {
  TVC_TRY(int64_t group, group_of(c));
  const Shape &x = c.shape(0), &w = c.shape(1);
  if (x[1].is_constant() && w[0].is_constant() && x[1] != w[0])
    return bad_input("the input has {} channels, the weights take {}", x[1].text(), w[0].text());
  TVC_TRY(auto kernel, kernel_of(c, 1));
  TVC_TRY(Window window, transposed_window_of(c, spatial_shape(x), std::move(kernel)));
  Shape out = {x[0], w[1] * group};
  out.insert(out.end(), window.out.begin(), window.out.end());
  c.set(0, c.dtype(0), std::move(out));
  return infer_epilogue(c);
}

Expressions express_conv_transpose(const NodeView& v) {
  TVC_TRY(int64_t group, group_of(v));
  TVC_TRY(auto kernel, kernel_of(v, 1));
  const Shape in = spatial_shape(v.shape(0));
  TVC_TRY(Window w, transposed_window_of(v, in, std::move(kernel)));
  auto out = axes_of(v.out_type(0).shape);
  te::Axis channel{te::fresh_var(), ir::floor_div(v.shape(0)[1], group)};
  auto taps = tap_axes(w);
  Expr o = te::var(out[1].var), i = te::var(channel.var), o_in_group = o;
  if (group > 1) {
    Expr per_group = te::dim(v.shape(1)[1]);
    i = o / per_group * te::dim(channel.extent) + i;
    o_in_group = te::binary(te::Op::kRem, o, per_group);
  }
  std::vector<Expr> at_x = {te::var(out[0].var), i}, at_w = {i, o_in_group};
  Expr inside = te::boolean(true);
  for (size_t k = 0; k < w.rank(); ++k) {
    Expr scaled = te::var(out[2 + k].var) + te::dim(w.pad_begin[k]) - te::var(taps[k].var) * te::index(w.dilation[k]);
    Expr stride = te::index(w.stride[k]), position = scaled / stride;
    inside = te::land(inside, te::land(te::ge(scaled, te::index(0)),
                                       te::land(te::eq(te::binary(te::Op::kRem, scaled, stride), te::index(0)),
                                                te::lt(position, te::dim(in[k])))));
    at_x.push_back(position);
    at_w.push_back(te::var(taps[k].var));
  }
  Expr product = te::read(0, v.dtype(0), at_x) * te::read(1, v.dtype(1), at_w);
  std::vector<te::Axis> over = {channel};
  over.insert(over.end(), taps.begin(), taps.end());
  Expr sum = te::reduce(te::ReduceOp::kSum, over, te::select(inside, product, te::number(product->dtype, 0)));
  if (v.has_input(2)) sum = sum + te::read(2, v.dtype(2), {o});
  TVC_TRY(auto expression, with_epilogue(v, {v.dtype(0), out, sum}));
  return std::vector<te::TensorExpr>{std::move(expression)};
}

}  // namespace

TVC_DEFINE_OP(kConv) = {
    .name = "Conv",
    .infer = infer_conv,
    .express = express_conv,
    .tolerance = {.relative = 1e-4, .absolute = 1e-5},
    .samples = {"f32[1,4,5,7], f32[6,4,3,3], f32[6] | pads=[1,1,1,1]", "f32[2,4,9], f32[6,2,3] | group=2 strides=[2]"}};
TVC_DEFINE_OP(kConvTranspose) = {.name = "ConvTranspose",
                                 .infer = infer_conv_transpose,
                                 .express = express_conv_transpose,
                                 .tolerance = {.relative = 1e-4, .absolute = 1e-5},
                                 .samples = {"f32[1,4,3,4], f32[4,3,2,2], f32[3] | strides=[2,2]"}};
TVC_DEFINE_OP(kConvInteger) = {
    .name = "ConvInteger",
    .infer = infer_conv_integer,
    .express = express_conv_integer,
    .samples = {"u8[1,1,3,3], u8[1,1,2,2], u8[]", "i8[2,4,5], i8[6,2,3], i8[1], i8[6] | group=2 pads=[1,1]"}};

}  // namespace tvc::ops

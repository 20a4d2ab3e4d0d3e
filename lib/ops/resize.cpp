// SPDX-License-Identifier: Apache-2.0
// Resize: each resized axis is a weighted sum over a few input positions (1 for nearest, 2 for linear, 4 for cubic;
// more with antialias), one axis after the other in one expression. onnx's reference implementation is the source of
// the coordinate rules.
// Sizes that follow from run-time scales are computed by other operators; the node then has both scales and sizes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using Expressions = Result<std::vector<te::TensorExpr>>;

Expr real(double value) { return te::number(DType::kF32, value); }
Expr to_real(const Expr& e) { return te::cast(DType::kF32, e); }

struct AxisResize {
  bool resized = false;
  Dim in, out;
  std::optional<double> known;  // the scale where it is given as a number
  Expr scale;                   // the scale where it is given at all
  Expr roi_start, roi_end;
};

struct Plan {
  std::vector<AxisResize> axes;
  std::string mode, coordinates, nearest;
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75, extrapolation = 0;
};

Result<std::vector<int64_t>> resized_axes(const NodeView& v) {
  auto axes = v.ints("axes");
  if (axes.empty()) {
    axes.resize(static_cast<size_t>(v.rank(0)));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) {
    TVC_TRY(int k, v.axis(axis, v.rank(0)));
    axis = k;
  }
  return axes;
}

bool has_scales(const NodeView& v) { return v.has_input(2) && !(v.rank(2) == 1 && v.shape(2)[0].is(0)); }

// Whether the sizes follow from floats, or from a choice among run-time sizes: then a decomposition computes them.
bool needs_sizes(const NodeView& v) {
  if (has_scales(v)) return v.constant(2) == nullptr && !v.has_input(3);
  return v.s("keep_aspect_ratio_policy", "stretch") != "stretch";
}

Result<void> check_list(const NodeView& v, size_t operand, size_t count) {
  if (v.rank(operand) != 1) return bad_input("operand {} has rank {}", operand, v.rank(operand));
  if (!v.shape(operand)[0].is(static_cast<int64_t>(count)))
    return bad_input("operand {} has {} elements, not {}", operand, v.shape(operand)[0].text(), count);
  return {};
}

Result<void> apply_sizes(const NodeView& v, const std::vector<int64_t>& axes, Plan& plan) {
  TVC_CHECK_OK(check_list(v, 3, axes.size()));
  auto sizes = v.elements(3);
  if (!sizes) return unsupported("the sizes are not known as {} numbers", axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    auto& axis = plan.axes[static_cast<size_t>(axes[k])];
    axis.out = (*sizes)[k];
    axis.resized = axis.out != axis.in;
  }
  return {};
}

Result<void> apply_scale(double s, AxisResize& axis) {
  if (!(s > 0 && s < 1e9)) return bad_input("a scale is {}", s);
  axis.known = s;
  axis.scale = real(s);
  axis.resized = s != 1;
  if (auto in = axis.in.as_constant()) {
    axis.out = static_cast<int64_t>(std::floor(static_cast<float>(*in) * static_cast<float>(s)));  // as onnx does
  } else if (s == std::floor(s)) {
    axis.out = axis.in * static_cast<int64_t>(s);
  } else if (1 / s == std::floor(1 / s)) {
    axis.out = ir::floor_div(axis.in, static_cast<int64_t>(1 / s));
  } else if (s * 1024 == std::floor(s * 1024)) {
    axis.out = ir::floor_div(axis.in * static_cast<int64_t>(s * 1024), 1024);
  } else {
    return unsupported("scale {} of a free size is not supported", s);
  }
  return {};
}

// Scales beside sizes say where to read, the sizes how much.
Result<void> apply_scales(const NodeView& v, const std::vector<int64_t>& axes, Plan& plan) {
  TVC_CHECK_OK(check_list(v, 2, axes.size()));
  if (v.constant(2) != nullptr && !v.has_input(3)) {
    auto values = ir::to_f64(*v.constant(2));
    for (size_t k = 0; k < axes.size(); ++k)
      TVC_CHECK_OK(apply_scale(values[k], plan.axes[static_cast<size_t>(axes[k])]));
    return {};
  }
  TVC_CHECK_OK(apply_sizes(v, axes, plan));
  for (size_t k = 0; k < axes.size(); ++k) {
    auto& axis = plan.axes[static_cast<size_t>(axes[k])];
    axis.scale = to_real(te::read(2, v.dtype(2), {te::index(static_cast<int64_t>(k))}));
    axis.resized = true;
  }
  return {};
}

Result<void> apply_region(const NodeView& v, const std::vector<int64_t>& axes, Plan& plan) {
  if (!v.has_input(1)) return bad_input("it has no region");
  TVC_CHECK_OK(check_list(v, 1, 2 * axes.size()));
  auto bound = [&](size_t k) { return to_real(te::read(1, v.dtype(1), {te::index(static_cast<int64_t>(k))})); };
  for (size_t k = 0; k < axes.size(); ++k) {
    auto& axis = plan.axes[static_cast<size_t>(axes[k])];
    axis.roi_start = bound(k);
    axis.roi_end = bound(k + axes.size());
    axis.resized = true;
  }
  return {};
}

Result<Plan> plan_of(const NodeView& v) {
  Plan plan;
  for (const Dim& d : v.shape(0)) plan.axes.push_back({false, d, d, {}, nullptr, nullptr, nullptr});
  plan.mode = v.s("mode", "nearest");
  plan.coordinates = v.s("coordinate_transformation_mode", "half_pixel");
  plan.nearest = v.s("nearest_mode", "round_prefer_floor");
  plan.antialias = v.i("antialias", 0) != 0;
  plan.exclude_outside = v.i("exclude_outside", 0) != 0;
  plan.cubic_a = v.f("cubic_coeff_a", -0.75);
  plan.extrapolation = v.f("extrapolation_value", 0);
  if (plan.mode != "nearest" && plan.mode != "linear" && plan.mode != "cubic")
    return unsupported("mode {} is not supported", plan.mode);
  TVC_TRY(auto axes, resized_axes(v));
  TVC_CHECK_OK(has_scales(v) ? apply_scales(v, axes, plan) : apply_sizes(v, axes, plan));
  if (plan.coordinates == "tf_crop_and_resize") TVC_CHECK_OK(apply_region(v, axes, plan));
  return plan;
}

Result<void> infer_resize(InferContext& c) {
  if (needs_sizes(c)) {
    TVC_TRY(auto axes, resized_axes(c));
    Shape out = c.shape(0);
    for (int64_t axis : axes) out[static_cast<size_t>(axis)] = c.fresh(0, static_cast<int>(axis));
    c.set(0, c.dtype(0), std::move(out));
    return {};
  }
  TVC_TRY(Plan plan, plan_of(c));
  Shape out;
  for (const auto& axis : plan.axes) out.push_back(axis.out);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

// x / scale. Where sizes give the scale, a quotient that is a whole number comes out as one.
Expr unscaled(const AxisResize& axis, const Expr& x) {
  if (axis.scale) return x / axis.scale;
  return x * to_real(te::dim(axis.in)) / to_real(te::dim(axis.out));
}

// Position in the input of output position i, as a real number.
Result<Expr> source_of(const Plan& plan, const AxisResize& axis, const Expr& i) {
  Expr x = to_real(i), in = to_real(te::dim(axis.in)), out = to_real(te::dim(axis.out));
  Expr exact_out = axis.scale ? in * axis.scale : out, half_pixel = unscaled(axis, x + real(0.5)) - real(0.5);
  const std::string& mode = plan.coordinates;
  auto if_several = [&](const Expr& several, const Expr& one) {
    return te::select(te::gt(te::dim(axis.out), te::index(1)), several, one);
  };
  if (mode == "half_pixel") return half_pixel;
  if (mode == "asymmetric") return unscaled(axis, x);
  if (mode == "pytorch_half_pixel") return if_several(half_pixel, real(0));
  if (mode == "align_corners") return if_several(x * (in - real(1)) / (exact_out - real(1)), real(0));
  if (mode == "tf_crop_and_resize") {
    Expr start = axis.roi_start, end = axis.roi_end, last = in - real(1);
    return if_several(start * last + x * ((end - start) * last / (exact_out - real(1))),
                      real(0.5) * (start + end) * last);
  }
  if (mode == "half_pixel_symmetric") {
    Expr adjusted = out / exact_out, centre = in / real(2), offset = centre * (real(1) - adjusted);
    return offset + half_pixel;
  }
  return unsupported("coordinate_transformation_mode {} is not supported", mode);
}

Expr nearest_of(const Plan& plan, const Expr& x) {
  Expr down = te::unary(Op::kFloor, x), up = te::unary(Op::kCeil, x);
  Expr y = down;
  if (plan.nearest == "ceil") y = up;
  if (plan.nearest == "round_prefer_floor") y = te::unary(Op::kCeil, x - real(0.5));
  if (plan.nearest == "round_prefer_ceil") y = te::unary(Op::kFloor, x + real(0.5));
  return te::cast(DType::kI64, y);
}

// The filter at distance d (not negative).
Expr filter_at(const Plan& plan, const Expr& d) {
  if (plan.mode == "linear") return te::max(real(1) - d, real(0));
  const double a = plan.cubic_a;
  Expr d2 = d * d, d3 = d2 * d;
  Expr near = real(a + 2) * d3 - real(a + 3) * d2 + real(1);
  Expr far = real(a) * d3 - real(5 * a) * d2 + real(8 * a) * d - real(4 * a);
  return te::select(te::le(d, real(1)), near, te::select(te::lt(d, real(2)), far, real(0)));
}

struct Taps {
  te::Axis axis;
  Expr position, weight, total;  // total: the sum of the weights
};

// How wide the filter is on either side, and the factor of distances within it.
struct Reach {
  Dim half;
  Expr stretch;
};

// With antialias a shrunken axis has a filter as wide as its output pixel. As in / out is at least 1 / scale, sizes
// alone bound it.
Reach reach_of(const Plan& plan, const AxisResize& axis) {
  const int64_t half = plan.mode == "linear" ? 1 : 2;
  if (!plan.antialias || (axis.known && *axis.known >= 1)) return {half, real(1)};
  if (axis.known) return {static_cast<int64_t>(std::ceil(static_cast<double>(half) / *axis.known)), real(*axis.known)};
  Expr scale = axis.scale ? axis.scale : to_real(te::dim(axis.out)) / to_real(te::dim(axis.in));
  return {ir::max(ir::ceil_div(axis.in * half, ir::max(axis.out, 1)), half), te::min(scale, real(1))};
}

// Taps around the source position.
Taps taps_of(const Plan& plan, const AxisResize& axis, const Expr& source) {
  const Reach reach = reach_of(plan, axis);
  Taps taps;
  taps.axis = {te::fresh_var(), reach.half * 2};
  Expr base = te::cast(DType::kI64, te::unary(Op::kFloor, source)) - te::dim(reach.half) + te::index(1);
  auto weight_of = [&](const Expr& tap) {
    Expr position = base + tap;
    Expr weight = filter_at(plan, te::unary(Op::kAbs, to_real(position) - source) * reach.stretch);
    if (plan.exclude_outside) weight = te::select(te::in_range(position, axis.in), weight, real(0));
    return std::pair(position, weight);
  };
  auto [position, weight] = weight_of(te::var(taps.axis.var));
  taps.position = te::max(te::min(position, te::dim(axis.in) - te::index(1)), te::index(0));
  taps.weight = weight;
  te::Axis again{te::fresh_var(), taps.axis.extent};
  const bool sums_to_one = reach.stretch->op == Op::kConst && reach.stretch->number == 1 && !plan.exclude_outside;
  taps.total = sums_to_one ? real(1) : te::reduce(te::ReduceOp::kSum, {again}, weight_of(te::var(again.var)).second);
  return taps;
}

Expressions express_resize(const NodeView& v) {
  if (needs_sizes(v)) return unsupported("the sizes are not known before the decomposition");
  TVC_TRY(Plan plan, plan_of(v));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at;
  std::vector<Taps> taps;
  Expr outside = te::boolean(false);
  for (size_t k = 0; k < axes.size(); ++k) {
    Expr i = te::var(axes[k].var);
    if (!plan.axes[k].resized) {
      at.push_back(i);
      continue;
    }
    TVC_TRY(Expr source, source_of(plan, plan.axes[k], i));
    if (plan.coordinates == "tf_crop_and_resize")
      outside = te::lor(outside,
                        te::lor(te::lt(source, real(0)), te::gt(source, to_real(te::dim(plan.axes[k].in)) - real(1))));
    if (plan.mode == "nearest") {
      at.push_back(te::max(te::min(nearest_of(plan, source), te::dim(plan.axes[k].in) - te::index(1)), te::index(0)));
      continue;
    }
    Taps found = taps_of(plan, plan.axes[k], source);
    at.push_back(found.position);
    taps.push_back(std::move(found));
  }
  Expr value = te::read(0, v.dtype(0), at);
  const DType compute = value->dtype;
  if (!taps.empty()) {
    value = te::cast(DType::kF32, value);
    for (size_t k = taps.size(); k-- > 0;)
      value = te::reduce(te::ReduceOp::kSum, {taps[k].axis}, taps[k].weight * value) / taps[k].total;
    if (!ir::is_float(compute)) value = te::unary(Op::kRoundEven, value);
    value = te::cast(compute, value);
  }
  if (outside->op != Op::kConst) value = te::select(outside, te::cast(compute, real(plan.extrapolation)), value);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, value}};
}

// The sizes of the resized axes: floor(in * scale); or, with keep_aspect_ratio_policy, round(in * s), s the one scale
// for all axes: the smallest, or the largest, that any of them asks for.
Result<std::vector<ir::ValueId>> decompose_resize(DecomposeContext& c) {
  if (!needs_sizes(c)) return std::vector<ir::ValueId>{};
  TVC_TRY(auto axes, resized_axes(c));
  const bool scaled = has_scales(c);
  const DType compute = scaled ? DType::kF32 : DType::kF64;
  const auto integer = static_cast<int64_t>(DType::kI64), wide = static_cast<int64_t>(compute);
  TVC_TRY(auto shape, c.add("Shape", {c.in(0)}));
  TVC_TRY(auto picked, c.add("Gather", {shape, c.ints(axes)}));
  TVC_TRY(auto in, c.add("Cast", {picked}, {{"to", wide}}));
  TVC_CHECK_OK(check_list(c, scaled ? 2 : 3, axes.size()));
  TVC_TRY(auto given, c.add("Cast", {c.in(scaled ? 2 : 3)}, {{"to", wide}}));
  ir::ValueId scales = given;
  if (!scaled) {
    const std::string policy = c.s("keep_aspect_ratio_policy", "stretch");
    if (policy != "not_larger" && policy != "not_smaller")
      return bad_input("keep_aspect_ratio_policy {} is not known", policy);
    TVC_TRY(auto each, c.add("Div", {given, in}));
    TVC_TRY(auto one, c.add(policy == "not_larger" ? "ReduceMin" : "ReduceMax", {each}));
    TVC_TRY(scales, c.add("Expand", {one, c.ints({static_cast<int64_t>(axes.size())})}));
  }
  TVC_TRY(auto exact, c.add("Mul", {in, scales}));
  if (!scaled) {
    TVC_TRY(exact, c.add("Add", {exact, c.scalar(compute, 0.5)}));
  }
  TVC_TRY(auto whole, c.add("Floor", {exact}));
  TVC_TRY(auto sizes, c.add("Cast", {whole}, {{"to", integer}}));
  TVC_TRY(auto narrow, c.add("Cast", {scales}, {{"to", static_cast<int64_t>(DType::kF32)}}));
  auto attrs = c.node().attrs;
  attrs.erase("keep_aspect_ratio_policy");
  TVC_TRY(auto y, c.add("Resize", {c.in(0), c.node().input(1), narrow, sizes}, std::move(attrs)));
  return std::vector<ir::ValueId>{y};
}

}  // namespace

TVC_DEFINE_OP(kResize) = {
    .name = "Resize",
    .infer = infer_resize,
    .express = express_resize,
    .decompose = decompose_resize,
    .samples = {"f32[1,2,4,6], _, f32[4]{1, 1, 0.6, 2} | mode=\"linear\"",
                "f32[1,1,6,9], _, _, i64[2]{3, 5} | axes=[2,3] mode=\"cubic\" antialias=1",
                "f32[1,1,3,4], f32[4]{0.2, 0, 0.9, 1.2}, _, i64[2]{4, 5} | axes=[2,3] "
                "coordinate_transformation_mode=\"tf_crop_and_resize\" mode=\"linear\" extrapolation_value=10.0",
                "u8[1,1,5,3], _, f32[4]{1, 1, 1.7, 0.4} | nearest_mode=\"ceil\" "
                "coordinate_transformation_mode=\"asymmetric\""}};

}  // namespace tvc::ops

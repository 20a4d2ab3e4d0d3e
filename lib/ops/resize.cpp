// SPDX-License-Identifier: Apache-2.0
// Resize: each resized axis is a weighted sum over a few input positions (1 for nearest, 2 for linear, 4 for cubic;
// more with antialias), one axis after the other in one expression. onnx's reference implementation is the source of
// the coordinate rules.
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
  std::optional<double> scale;  // a number where it is given as one
  double roi_start = 0, roi_end = 1;
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

Result<void> apply_sizes(const NodeView& v, const std::vector<int64_t>& axes, Plan& plan) {
  auto sizes = v.elements(3);
  if (!sizes || sizes->size() != axes.size()) return unsupported("the sizes are not known as {} numbers", axes.size());
  const std::string policy = v.s("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") {
    for (size_t k = 0; k < axes.size(); ++k) {
      auto& axis = plan.axes[static_cast<size_t>(axes[k])];
      axis.out = (*sizes)[k];
      axis.resized = axis.out != axis.in;
    }
    return {};
  }
  // One scale for all axes: the smallest, or the largest, that any of them asks for.
  std::optional<double> scale;
  for (size_t k = 0; k < axes.size(); ++k) {
    auto in = plan.axes[static_cast<size_t>(axes[k])].in.as_constant(), out = (*sizes)[k].as_constant();
    if (!in || !out || *in == 0)
      return unsupported("keep_aspect_ratio_policy wants sizes that are known at compile time");
    double s = static_cast<double>(*out) / static_cast<double>(*in);
    scale = !scale ? s : policy == "not_larger" ? std::min(*scale, s) : std::max(*scale, s);
  }
  for (int64_t k : axes) {
    auto& axis = plan.axes[static_cast<size_t>(k)];
    axis.out = static_cast<int64_t>(std::floor(*scale * static_cast<double>(axis.in.constant()) + 0.5));
    axis.scale = scale;
    axis.resized = true;
  }
  return {};
}

Result<void> apply_scales(const NodeView& v, const std::vector<int64_t>& axes, Plan& plan) {
  const ir::Tensor* scales = v.constant(2);
  if (scales == nullptr || scales->count() != static_cast<int64_t>(axes.size()))
    return unsupported("the scales are not known at compile time");
  auto values = ir::to_f64(*scales);
  for (size_t k = 0; k < axes.size(); ++k) {
    auto& axis = plan.axes[static_cast<size_t>(axes[k])];
    const double s = values[k];
    if (!(s > 0)) return bad_input("a scale is {}", s);
    axis.scale = s;
    axis.resized = s != 1;
    if (auto in = axis.in.as_constant()) {
      axis.out = static_cast<int64_t>(std::floor(static_cast<double>(*in) * s + 1e-9));
    } else if (s == std::floor(s)) {
      axis.out = axis.in * static_cast<int64_t>(s);
    } else if (1 / s == std::floor(1 / s)) {
      axis.out = ir::floor_div(axis.in, static_cast<int64_t>(1 / s));
    } else if (s * 1024 == std::floor(s * 1024)) {
      axis.out = ir::floor_div(axis.in * static_cast<int64_t>(s * 1024), 1024);
    } else {
      return unsupported("scale {} of a free size is not supported", s);
    }
  }
  return {};
}

Result<Plan> plan_of(const NodeView& v) {
  Plan plan;
  for (const Dim& d : v.shape(0)) plan.axes.push_back({false, d, d, {}, 0, 1});
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
  const bool has_scales = v.has_input(2) && !(v.shape(2).size() == 1 && v.shape(2)[0].is(0));
  TVC_CHECK_OK(v.has_input(3) && !has_scales ? apply_sizes(v, axes, plan) : apply_scales(v, axes, plan));
  if (plan.coordinates == "tf_crop_and_resize") {
    const ir::Tensor* roi = v.has_input(1) ? v.constant(1) : nullptr;
    if (roi == nullptr || roi->count() != 2 * static_cast<int64_t>(axes.size()))
      return unsupported("the region is not known at compile time");
    auto values = ir::to_f64(*roi);
    for (size_t k = 0; k < axes.size(); ++k) {
      auto& axis = plan.axes[static_cast<size_t>(axes[k])];
      axis.roi_start = values[k];
      axis.roi_end = values[k + axes.size()];
      axis.resized = true;
    }
  }
  return plan;
}

Result<void> infer_resize(InferContext& c) {
  TVC_TRY(Plan plan, plan_of(c));
  Shape out;
  for (const auto& axis : plan.axes) out.push_back(axis.out);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Expr scale_of(const AxisResize& axis) {
  return axis.scale ? real(*axis.scale) : to_real(te::dim(axis.out)) / to_real(te::dim(axis.in));
}

// Position in the input of output position i, as a real number.
Result<Expr> source_of(const Plan& plan, const AxisResize& axis, const Expr& i) {
  Expr x = to_real(i), scale = scale_of(axis), in = to_real(te::dim(axis.in)), out = to_real(te::dim(axis.out));
  Expr exact_out = axis.scale ? in * scale : out;
  const std::string& mode = plan.coordinates;
  if (mode == "half_pixel") return (x + real(0.5)) / scale - real(0.5);
  if (mode == "asymmetric") return x / scale;
  if (mode == "pytorch_half_pixel")
    return te::select(te::gt(te::dim(axis.out), te::index(1)), (x + real(0.5)) / scale - real(0.5), real(0));
  if (mode == "align_corners")
    return te::select(te::gt(te::dim(axis.out), te::index(1)), x * (in - real(1)) / (exact_out - real(1)), real(0));
  if (mode == "tf_crop_and_resize") {
    Expr start = real(axis.roi_start), end = real(axis.roi_end), last = in - real(1);
    return te::select(te::gt(te::dim(axis.out), te::index(1)),
                      start * last + x * ((end - start) * last / (exact_out - real(1))),
                      real(0.5) * (start + end) * last);
  }
  if (mode == "half_pixel_symmetric") {
    Expr adjusted = out / exact_out, centre = in / real(2), offset = centre * (real(1) - adjusted);
    return offset + (x + real(0.5)) / scale - real(0.5);
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

// Taps around the source position; with antialias a shrunken axis has a filter as wide as its output pixel.
Result<Taps> taps_of(const Plan& plan, const AxisResize& axis, const Expr& source) {
  int64_t half = plan.mode == "linear" ? 1 : 2;
  Expr stretch = real(1);
  if (plan.antialias && !(axis.scale && *axis.scale >= 1)) {
    double scale = axis.scale.value_or(0);
    if (!axis.scale) {
      auto in = axis.in.as_constant(), out = axis.out.as_constant();
      if (!in || !out || *in == 0) return unsupported("antialias of a free size is not supported");
      scale = static_cast<double>(*out) / static_cast<double>(*in);
    }
    if (scale < 1) {
      half = static_cast<int64_t>(std::ceil(static_cast<double>(half) / scale));
      stretch = real(scale);
    }
  }
  Taps taps;
  taps.axis = {te::fresh_var(), 2 * half};
  Expr base = te::cast(DType::kI64, te::unary(Op::kFloor, source));
  auto weight_of = [&](const Expr& tap) {
    Expr position = base + tap - te::index(half - 1);
    Expr weight = filter_at(plan, te::unary(Op::kAbs, to_real(position) - source) * stretch);
    if (plan.exclude_outside) weight = te::select(te::in_range(position, axis.in), weight, real(0));
    return std::pair(position, weight);
  };
  auto [position, weight] = weight_of(te::var(taps.axis.var));
  taps.position = te::max(te::min(position, te::dim(axis.in) - te::index(1)), te::index(0));
  taps.weight = weight;
  te::Axis again{te::fresh_var(), 2 * half};
  const bool sums_to_one = stretch->number == 1 && !plan.exclude_outside;
  taps.total = sums_to_one ? real(1) : te::reduce(te::ReduceOp::kSum, {again}, weight_of(te::var(again.var)).second);
  return taps;
}

Expressions express_resize(const NodeView& v) {
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
    TVC_TRY(Taps found, taps_of(plan, plan.axes[k], source));
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

}  // namespace

TVC_DEFINE_OP(kResize) = {.name = "Resize", .infer = infer_resize, .express = express_resize};

}  // namespace tvc::ops

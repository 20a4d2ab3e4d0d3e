// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: Transpose, Concat, Split, Slice, Pad, DepthToSpace, SpaceToDepth, ReverseSequence.
#include <algorithm>
#include <numeric>

#include "ops/axes.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using Expressions = Result<std::vector<te::TensorExpr>>;

std::vector<Expr> identity_index(const std::vector<te::Axis>& axes) {
  std::vector<Expr> at;
  for (const auto& axis : axes) at.push_back(te::var(axis.var));
  return at;
}

Result<std::vector<int64_t>> permutation_of(const NodeView& v) {
  auto perm = v.ints("perm");
  const auto rank = static_cast<size_t>(v.rank(0));
  if (perm.empty() && !v.node().has("perm")) {
    perm.resize(rank);
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  auto sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t k = 0; k < sorted.size(); ++k)
    if (sorted[k] != static_cast<int64_t>(k)) return bad_input("perm is no permutation");
  if (perm.size() != rank) return bad_input("perm has {} axes, the input {}", perm.size(), rank);
  return perm;
}

Result<void> infer_transpose(InferContext& c) {
  TVC_TRY(auto perm, permutation_of(c));
  Shape out;
  for (int64_t p : perm) out.push_back(c.shape(0)[static_cast<size_t>(p)]);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Expressions express_transpose(const NodeView& v) {
  TVC_TRY(auto perm, permutation_of(v));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) at[static_cast<size_t>(perm[k])] = te::var(axes[k].var);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), at)}};
}

Result<void> infer_concat(InferContext& c) {
  TVC_TRY(int axis, c.axis(c.i("axis", 0), c.rank(0)));
  Shape out = c.shape(0);
  for (size_t k = 1; k < c.input_count(); ++k) {
    if (c.rank(k) != c.rank(0)) return bad_input("operands have ranks {} and {}", c.rank(0), c.rank(k));
    for (size_t a = 0; a < out.size(); ++a) {
      const Dim& d = c.shape(k)[a];
      if (static_cast<int>(a) == axis) out[a] = out[a] + d;
      else if (out[a].is_constant() && d.is_constant() && out[a] != d)
        return bad_input("operands differ in axis {}: {} and {}", a, out[a].text(), d.text());
      else if (d.is_constant()) out[a] = d;
    }
  }
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Expressions express_concat(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Dim> starts = {0};
  for (size_t k = 0; k < v.input_count(); ++k) starts.push_back(starts.back() + v.shape(k)[static_cast<size_t>(axis)]);
  Expr i = te::var(axes[static_cast<size_t>(axis)].var), value;
  for (size_t k = v.input_count(); k-- > 0;) {
    if (v.shape(k)[static_cast<size_t>(axis)].is(0) && value) continue;
    auto at = identity_index(axes);
    if (!starts[k].is(0)) at[static_cast<size_t>(axis)] = i - te::dim(starts[k]);
    Expr piece = te::read(static_cast<int>(k), v.dtype(k), at);
    value = value ? te::select(te::lt(i, te::dim(starts[k + 1])), piece, value) : piece;
  }
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, value}};
}

Result<std::vector<Dim>> split_sizes(const NodeView& v, int axis) {
  const Dim whole = v.shape(0)[static_cast<size_t>(axis)];
  if (v.has_input(1)) {
    auto sizes = v.elements(1);
    if (!sizes || sizes->size() != v.output_count())
      return unsupported("the sizes of the parts are not known as {} numbers", v.output_count());
    return *sizes;
  }
  const auto count = static_cast<int64_t>(v.output_count());
  Dim each = ir::ceil_div(whole, count);
  std::vector<Dim> sizes(v.output_count(), each);
  sizes.back() = whole - each * (count - 1);
  return sizes;
}

Result<void> infer_split(InferContext& c) {
  TVC_TRY(int axis, c.axis(c.i("axis", 0), c.rank(0)));
  TVC_TRY(auto sizes, split_sizes(c, axis));
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k].is_constant() && sizes[k].constant() < 0) return bad_input("part {} has size {}", k, sizes[k].text());
    Shape out = c.shape(0);
    out[static_cast<size_t>(axis)] = sizes[k];
    c.set(k, c.dtype(0), std::move(out));
  }
  return {};
}

Expressions express_split(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  TVC_TRY(auto sizes, split_sizes(v, axis));
  std::vector<te::TensorExpr> out;
  Dim start = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    if (!v.has_output(k)) {
      out.emplace_back();
    } else {
      auto axes = axes_of(v.out_type(k).shape);
      auto at = identity_index(axes);
      at[static_cast<size_t>(axis)] = at[static_cast<size_t>(axis)] + te::dim(start);
      out.push_back({v.dtype(0), axes, te::read(0, v.dtype(0), at)});
    }
    start = start + sizes[k];
  }
  return out;
}

struct Cut {
  Dim start, size, step = 1;
};

// A bound that is a number, near enough to 0 to be computed with; no axis is as long.
Dim bounded(const Dim& d) {
  constexpr int64_t kFar = int64_t{1} << 61;
  return d.is_constant() ? Dim(std::clamp(d.constant(), -kFar, kFar)) : d;
}

// The cut of an axis of size `size`, by ONNX's rules: bounds below 0 count from the end; then starts are clamped to
// [0, size], backwards to [0, size - 1], and ends to [0, size], backwards to [-1, size - 1].
Cut cut_of(const Dim& size, const Dim& from, const Dim& to, const Dim& step) {
  auto from_end = [&](const Dim& d) { return ir::if_lt(d, 0, d + size, d); };
  auto clamped = [&](const Dim& d, const Dim& low, const Dim& high) { return ir::min(ir::max(d, low), high); };
  const Dim start = from_end(bounded(from)), end = from_end(bounded(to));
  Cut forward, backward;
  forward.start = clamped(start, 0, size);
  forward.size = ir::max(ir::ceil_div(clamped(end, 0, size) - forward.start, ir::max(step, 1)), 0);
  backward.start = clamped(start, 0, size - 1);
  backward.size = ir::max(ir::ceil_div(backward.start - clamped(end, -1, size - 1), ir::max(Dim(0) - step, 1)), 0);
  return {ir::if_lt(step, 0, backward.start, forward.start), ir::if_lt(step, 0, backward.size, forward.size), step};
}

// One cut an axis.
Result<std::vector<Cut>> cuts_of(const NodeView& v) {
  std::vector<Cut> cuts;
  for (const Dim& d : v.shape(0)) cuts.push_back({0, d, 1});
  auto starts = v.elements(1), ends = v.elements(2);
  if (!starts || !ends || starts->size() != ends->size())
    return unsupported("starts and ends are not known as lists of one length");
  std::vector<Dim> axes, steps(starts->size(), 1);
  for (size_t k = 0; k < starts->size(); ++k) axes.emplace_back(static_cast<int64_t>(k));
  for (size_t operand : {3, 4}) {
    if (!v.has_input(operand)) continue;
    auto given = v.elements(operand);
    if (!given || given->size() != axes.size())
      return unsupported("the {} are not known as {} numbers", operand == 3 ? "axes" : "steps", axes.size());
    (operand == 3 ? axes : steps) = *given;
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    TVC_TRY(auto members, axis_set(v, std::vector<Dim>{axes[k]}, v.rank(0)));
    if (steps[k].is(0)) return bad_input("a step is 0");
    for (size_t axis = 0; axis < cuts.size(); ++axis) {
      if (members[axis].is(0)) continue;
      const Cut made = cut_of(v.shape(0)[axis], (*starts)[k], (*ends)[k], steps[k]);
      Cut& cut = cuts[axis];
      cut = {if_member(members[axis], made.start, cut.start), if_member(members[axis], made.size, cut.size),
             if_member(members[axis], made.step, cut.step)};
    }
  }
  return cuts;
}

Result<void> infer_slice(InferContext& c) {
  TVC_TRY(auto cuts, cuts_of(c));
  Shape out;
  for (const Cut& cut : cuts) out.push_back(cut.size);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Expressions express_slice(const NodeView& v) {
  TVC_TRY(auto cuts, cuts_of(v));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at;
  for (size_t k = 0; k < cuts.size(); ++k)
    at.push_back(te::dim(cuts[k].start) + te::var(axes[k].var) * te::dim(cuts[k].step));
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), at)}};
}

struct Padding {
  Dim before = 0, after = 0;
};

Result<std::vector<Padding>> padding_of(const NodeView& v) {
  std::vector<Padding> out(static_cast<size_t>(v.rank(0)));
  auto pads = v.elements(1);
  if (!pads) return unsupported("the pads are not known as a list");
  std::vector<Dim> axes;
  for (size_t k = 0; k < out.size(); ++k) axes.emplace_back(static_cast<int64_t>(k));
  if (v.has_input(3)) {
    auto given = v.elements(3);
    if (!given) return unsupported("the number of axes is not known at compile time");
    axes = *given;
  }
  if (pads->size() != 2 * axes.size()) return bad_input("{} pads for {} axes", pads->size(), axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    TVC_TRY(auto members, axis_set(v, std::vector<Dim>{axes[k]}, v.rank(0)));
    for (size_t axis = 0; axis < out.size(); ++axis) {
      out[axis].before = if_member(members[axis], (*pads)[k], out[axis].before);
      out[axis].after = if_member(members[axis], (*pads)[k + axes.size()], out[axis].after);
    }
  }
  return out;
}

Result<void> infer_pad(InferContext& c) {
  TVC_TRY(auto pads, padding_of(c));
  Shape out;
  for (size_t k = 0; k < pads.size(); ++k) out.push_back(c.shape(0)[k] + pads[k].before + pads[k].after);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

// Where the element comes from along one axis: mirrored without the edge, at the edge, or from the other side.
Expr source_position(const std::string& mode, const Expr& i, const Expr& size) {
  Expr zero = te::index(0), one = te::index(1);
  if (mode == "edge") return te::max(te::min(i, size - one), zero);
  if (mode == "wrap") return te::binary(Op::kMod, i, size);
  Expr period = te::max((size - one) * te::index(2), one), folded = te::binary(Op::kMod, i, period);
  return te::min(folded, te::max(period - folded, zero));
}

Expressions express_pad(const NodeView& v) {
  TVC_TRY(auto pads, padding_of(v));
  const std::string mode = v.s("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return unsupported("mode {} is not supported", mode);
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at;
  Expr inside = te::boolean(true);
  for (size_t k = 0; k < pads.size(); ++k) {
    Expr i = te::var(axes[k].var) - te::dim(pads[k].before);
    if (!pads[k].before.is(0) || !pads[k].after.is(0)) {
      if (mode == "constant") inside = te::land(inside, te::in_range(i, v.shape(0)[k]));
      else i = source_position(mode, i, te::dim(v.shape(0)[k]));
    }
    at.push_back(i);
  }
  Expr x = te::read(0, v.dtype(0), at);
  if (mode != "constant") return std::vector<te::TensorExpr>{{v.dtype(0), axes, x}};
  Expr fill = ir::is_float(x->dtype) ? te::number(x->dtype, 0) : te::integer(x->dtype, 0);
  if (v.has_input(2)) fill = te::read(2, v.dtype(2), std::vector<Expr>(static_cast<size_t>(v.rank(2)), te::index(0)));
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::select(inside, x, fill)}};
}

Result<void> infer_depth_to_space(InferContext& c) {
  const int64_t b = c.i("blocksize", 1);
  if (c.rank(0) != 4 || b < 1) return bad_input("wants an input of rank 4 and a positive blocksize");
  const Shape& x = c.shape(0);
  c.set(0, c.dtype(0), {x[0], ir::floor_div(x[1], b * b), x[2] * b, x[3] * b});
  return {};
}

Expressions express_depth_to_space(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  Expr b = te::index(v.i("blocksize", 1)), c = te::var(axes[1].var), h = te::var(axes[2].var), w = te::var(axes[3].var);
  Expr place = te::binary(Op::kRem, h, b) * b + te::binary(Op::kRem, w, b);
  Expr channel = v.s("mode", "DCR") == "CRD" ? c * b * b + place : place * te::dim(axes[1].extent) + c;
  return std::vector<te::TensorExpr>{
      {v.dtype(0), axes, te::read(0, v.dtype(0), {te::var(axes[0].var), channel, h / b, w / b})}};
}

Result<void> infer_space_to_depth(InferContext& c) {
  const int64_t b = c.i("blocksize", 1);
  if (c.rank(0) != 4 || b < 1) return bad_input("wants an input of rank 4 and a positive blocksize");
  const Shape& x = c.shape(0);
  c.set(0, c.dtype(0), {x[0], x[1] * (b * b), ir::floor_div(x[2], b), ir::floor_div(x[3], b)});
  return {};
}

Expressions express_space_to_depth(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  Expr b = te::index(v.i("blocksize", 1)), o = te::var(axes[1].var), channels = te::dim(v.shape(0)[1]);
  Expr area = b * b;
  const bool channel_first = v.s("mode", "DCR") == "CRD";
  Expr place = channel_first ? te::binary(Op::kRem, o, area) : o / channels;
  Expr c = channel_first ? o / area : te::binary(Op::kRem, o, channels);
  Expr h = te::var(axes[2].var) * b + place / b, w = te::var(axes[3].var) * b + te::binary(Op::kRem, place, b);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), {te::var(axes[0].var), c, h, w})}};
}

Expressions express_reverse_sequence(const NodeView& v) {
  TVC_TRY(int batch, v.axis(v.i("batch_axis", 1), v.rank(0)));
  TVC_TRY(int time, v.axis(v.i("time_axis", 0), v.rank(0)));
  auto axes = axes_of(v.out_type(0).shape);
  auto at = identity_index(axes);
  Expr length = te::read(1, v.dtype(1), {at[static_cast<size_t>(batch)]}), t = at[static_cast<size_t>(time)];
  at[static_cast<size_t>(time)] = te::select(te::lt(t, length), length - te::index(1) - t, t);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), at)}};
}

}  // namespace

TVC_DEFINE_OP(kTranspose) = {.name = "Transpose",
                             .infer = infer_transpose,
                             .express = express_transpose,
                             .samples = {"f32[2,3,4]", "f32[2,3,4] | perm=[0,2,1]"}};
TVC_DEFINE_OP(kConcat) = {
    .name = "Concat", .infer = infer_concat, .express = express_concat, .samples = {"f32[2,3], f32[2,1] | axis=1"}};
TVC_DEFINE_OP(kSplit) = {.name = "Split", .infer = infer_split, .express = express_split};
TVC_DEFINE_OP(kSlice) = {
    .name = "Slice",
    .infer = infer_slice,
    .express = express_slice,
    .samples = {"f32[5,4], i64[2]{1, -3}, i64[2]{9, -1}", "f32[5,4], i64[1]{-1}, i64[1]{-100}, i64[1]{0}, i64[1]{-2}",
                "f32[2,7], i32[1]{6}, i32[1]{-9}, i32[1]{1}, i32[1]{-3}"}};
TVC_DEFINE_OP(kPad) = {.name = "Pad",
                       .infer = infer_pad,
                       .express = express_pad,
                       .samples = {"f32[2,3], i64[4]{1, 0, 2, -1}, f32[]", "f32[4], i64[2]{2, 3} | mode=\"reflect\"",
                                   "f32[2,3], i64[2]{1, 2}, f32[], i32[1]{-1}"}};
TVC_DEFINE_OP(kDepthToSpace) = {.name = "DepthToSpace",
                                .infer = infer_depth_to_space,
                                .express = express_depth_to_space,
                                .samples = {"f32[1,8,2,3] | blocksize=2"}};
TVC_DEFINE_OP(kSpaceToDepth) = {.name = "SpaceToDepth",
                                .infer = infer_space_to_depth,
                                .express = express_space_to_depth,
                                .samples = {"f32[1,2,4,6] | blocksize=2"}};
TVC_DEFINE_OP(kReverseSequence) = {
    .name = "ReverseSequence", .infer = infer_same_as_input, .express = express_reverse_sequence};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Look-ups by index: Gather, GatherElements, GatherND, OneHot. Negative indices count from the end; what is still out
// of range reads the nearest element, so that no index can read foreign memory.
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using te::Expr;
using Expressions = Result<std::vector<te::TensorExpr>>;

Expr wrapped(const Expr& raw, const Dim& size) {
  Expr i = te::cast(DType::kI64, raw), n = te::dim(size);
  if (raw->op == te::Op::kConst && raw->integer >= 0 && size.is_constant() && raw->integer < size.constant()) return i;
  Expr positive = te::select(te::lt(i, te::index(0)), i + n, i);
  return te::max(te::min(positive, n - te::index(1)), te::index(0));
}

Result<void> infer_gather(InferContext& c) {
  TVC_TRY(int axis, c.axis(c.i("axis", 0), c.rank(0)));
  Shape out(c.shape(0).begin(), c.shape(0).begin() + axis);
  out.insert(out.end(), c.shape(1).begin(), c.shape(1).end());
  out.insert(out.end(), c.shape(0).begin() + axis + 1, c.shape(0).end());
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Expressions express_gather(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at, index_at;
  for (int k = 0; k < v.rank(1); ++k) index_at.push_back(te::var(axes[static_cast<size_t>(axis + k)].var));
  for (int k = 0; k < v.rank(0); ++k) {
    if (k == axis) {
      const ir::Tensor* constant = v.constant(1);
      Expr index = constant != nullptr && constant->count() == 1 ? te::index(ir::to_i64(*constant)[0])
                                                                 : te::read(1, v.dtype(1), index_at);
      at.push_back(wrapped(index, v.shape(0)[static_cast<size_t>(k)]));
    } else {
      at.push_back(te::var(axes[static_cast<size_t>(k < axis ? k : k - 1 + v.rank(1))].var));
    }
  }
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), at)}};
}

Result<void> infer_gather_elements(InferContext& c) {
  if (c.rank(0) != c.rank(1)) return bad_input("operands have ranks {} and {}", c.rank(0), c.rank(1));
  c.set(0, c.dtype(0), c.shape(1));
  return {};
}

Expressions express_gather_elements(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at;
  for (const auto& a : axes) at.push_back(te::var(a.var));
  Expr index = te::read(1, v.dtype(1), at);
  at[static_cast<size_t>(axis)] = wrapped(index, v.shape(0)[static_cast<size_t>(axis)]);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), at)}};
}

Result<int64_t> tuple_length(const NodeView& v) {
  if (v.rank(1) < 1 || !v.shape(1).back().is_constant())
    return unsupported("the length of an index is not known at compile time");
  const int64_t length = v.shape(1).back().constant(), batch = v.i("batch_dims", 0);
  if (batch < 0 || batch >= v.rank(1) || length + batch > v.rank(0))
    return bad_input("indices of {} numbers do not fit rank {}", length, v.rank(0));
  return length;
}

Result<void> infer_gather_nd(InferContext& c) {
  TVC_TRY(int64_t length, tuple_length(c));
  Shape out(c.shape(1).begin(), c.shape(1).end() - 1);
  out.insert(out.end(), c.shape(0).begin() + c.i("batch_dims", 0) + length, c.shape(0).end());
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Expressions express_gather_nd(const NodeView& v) {
  TVC_TRY(int64_t length, tuple_length(v));
  const auto batch = static_cast<size_t>(v.i("batch_dims", 0)), outer = static_cast<size_t>(v.rank(1) - 1);
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> index_at, at;
  for (size_t k = 0; k < outer; ++k) index_at.push_back(te::var(axes[k].var));
  for (size_t k = 0; k < batch; ++k) at.push_back(te::var(axes[k].var));
  for (int64_t k = 0; k < length; ++k) {
    auto place = index_at;
    place.push_back(te::index(k));
    at.push_back(wrapped(te::read(1, v.dtype(1), place), v.shape(0)[at.size()]));
  }
  for (size_t k = outer; k < axes.size(); ++k) at.push_back(te::var(axes[k].var));
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), at)}};
}

Result<void> infer_one_hot(InferContext& c) {
  auto depth = c.elements(1);
  TVC_TRY(int axis, c.axis(c.i("axis", -1), c.rank(0) + 1));
  Shape out = c.shape(0);
  out.insert(out.begin() + axis, depth && depth->size() == 1 ? (*depth)[0] : c.fresh(0, axis));
  c.set(0, c.dtype(2), std::move(out));
  return {};
}

// The depth may be a float that only the run knows; as an integer its value has a name.
Result<std::vector<ir::ValueId>> decompose_one_hot(DecomposeContext& c) {
  TVC_TRY(auto depth, c.add("Cast", {c.in(1)}, {{"to", static_cast<int64_t>(DType::kI64)}}));
  TVC_TRY(auto y, c.add("tvc.OneHot", {c.in(0), depth, c.in(2)}, {{"axis", c.i("axis", -1)}}));
  return std::vector<ir::ValueId>{y};
}

Expressions express_one_hot(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", -1), v.rank(0) + 1));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at;
  for (int k = 0; k <= v.rank(0); ++k)
    if (k != axis) at.push_back(te::var(axes[static_cast<size_t>(k)].var));
  Expr index = te::cast(DType::kI64, te::read(0, v.dtype(0), at)),
       depth = te::dim(axes[static_cast<size_t>(axis)].extent);
  index = te::select(te::lt(index, te::index(0)), index + depth, index);
  Expr on = te::read(2, v.dtype(2), {te::index(1)}), off = te::read(2, v.dtype(2), {te::index(0)});
  return std::vector<te::TensorExpr>{
      {v.dtype(2), axes, te::select(te::eq(te::var(axes[static_cast<size_t>(axis)].var), index), on, off)}};
}

}  // namespace

TVC_DEFINE_OP(kGather) = {.name = "Gather", .infer = infer_gather, .express = express_gather};
TVC_DEFINE_OP(kGatherElements) = {
    .name = "GatherElements", .infer = infer_gather_elements, .express = express_gather_elements};
TVC_DEFINE_OP(kGatherND) = {.name = "GatherND", .infer = infer_gather_nd, .express = express_gather_nd};
TVC_DEFINE_OP(kOneHot) = {
    .name = "OneHot",
    .infer = infer_one_hot,
    .decompose = decompose_one_hot,
    .samples = {"i64[3]{0, -1, 7}, i64[]{4}, f32[2]", "f32[2,2]{0, 1, 2, 1}, f32[1]{3}, i32[2] | axis=0"}};
// OneHot of an integer depth.
TVC_DEFINE_OP(kIntegerOneHot) = {.name = "tvc.OneHot", .infer = infer_one_hot, .express = express_one_hot};

}  // namespace tvc::ops

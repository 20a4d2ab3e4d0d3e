// SPDX-License-Identifier: Apache-2.0
// Softmax and its kin along one axis: exp(x - max) / sum(exp(x - max)). As decompositions, so that a kernel may take
// the node whole.
#include "ops/op_def.h"

namespace tvc::ops {
namespace {

struct Shifted {
  ir::ValueId x, exponentials, sum;
  DType stored;
};

// Half precision is computed in f32 throughout and rounded once.
Result<Shifted> shifted_exponentials(DecomposeContext& c) {
  const DType stored = c.dtype(0);
  ir::ValueId x = c.in(0);
  if (ir::compute_type(stored) != stored) {
    TVC_TRY(x, c.add("Cast", {x}, {{"to", int64_t{1}}}));
  }
  ir::ValueId axes = c.ints({c.i("axis", -1)});
  TVC_TRY(ir::ValueId highest, c.add("ReduceMax", {x, axes}));
  TVC_TRY(ir::ValueId shifted, c.add("Sub", {x, highest}));
  TVC_TRY(ir::ValueId exponentials, c.add("Exp", {shifted}));
  TVC_TRY(ir::ValueId sum, c.add("ReduceSum", {exponentials, axes}));
  return Shifted{shifted, exponentials, sum, stored};
}

Result<std::vector<ir::ValueId>> stored_as(DecomposeContext& c, ir::ValueId y, DType stored) {
  if (ir::compute_type(stored) != stored) {
    TVC_TRY(y, c.add("Cast", {y}, {{"to", static_cast<int64_t>(stored)}}));
  }
  return std::vector<ir::ValueId>{y};
}

Result<std::vector<ir::ValueId>> decompose_softmax(DecomposeContext& c) {
  TVC_TRY(auto parts, shifted_exponentials(c));
  TVC_TRY(ir::ValueId y, c.add("Div", {parts.exponentials, parts.sum}));
  return stored_as(c, y, parts.stored);
}

Result<std::vector<ir::ValueId>> decompose_log_softmax(DecomposeContext& c) {
  TVC_TRY(auto parts, shifted_exponentials(c));
  TVC_TRY(ir::ValueId log, c.add("Log", {parts.sum}));
  TVC_TRY(ir::ValueId y, c.add("Sub", {parts.x, log}));
  return stored_as(c, y, parts.stored);
}

// 1 at the first largest element, 0 elsewhere.
Result<std::vector<te::TensorExpr>> express_hardmax(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", -1), v.rank(0)));
  auto axes = axes_of(v.shape(0));
  te::Axis over{te::fresh_var(), v.shape(0)[static_cast<size_t>(axis)]};
  std::vector<te::Expr> index;
  for (const auto& a : axes) index.push_back(te::var(a.var));
  te::Expr self = index[static_cast<size_t>(axis)];
  index[static_cast<size_t>(axis)] = te::var(over.var);
  te::Expr at = te::reduce(te::ReduceOp::kArgMax, {over}, te::read(0, v.dtype(0), index));
  DType compute = ir::compute_type(v.dtype(0));
  return std::vector<te::TensorExpr>{
      {v.dtype(0), axes, te::select(te::eq(self, at), te::number(compute, 1), te::number(compute, 0))}};
}

}  // namespace

TVC_DEFINE_OP(kSoftmax) = {.name = "Softmax",
                           .infer = infer_same_as_input,
                           .decompose = decompose_softmax,
                           .samples = {"f32[3,5]", "f32[2,3,4] | axis=1", "f16[2,6]", "bf16[2,6]"}};
TVC_DEFINE_OP(kLogSoftmax) = {
    .name = "LogSoftmax", .infer = infer_same_as_input, .decompose = decompose_log_softmax, .samples = {"f32[3,5]"}};
TVC_DEFINE_OP(kHardmax) = {
    .name = "Hardmax", .infer = infer_same_as_input, .express = express_hardmax, .samples = {"f32[3,5]"}};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, ArgMax and ArgMin, running sums. Floats below 32 bits are summed as f32 and rounded once.
#include <algorithm>

#include "ops/axes.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using te::ReduceOp;
using Expressions = Result<std::vector<te::TensorExpr>>;

// Which axes are reduced; nullopt: none at all, the input passes through.
Result<std::optional<AxisSet>> reduced_axes(const NodeView& v) {
  const int rank = v.rank(0);
  const bool given = v.has_input(1) && !(v.rank(1) == 1 && v.shape(1)[0].is(0));
  if (!given && v.i("noop_with_empty_axes", 0) != 0) return std::optional<AxisSet>();
  if (!given) return std::optional<AxisSet>(AxisSet(static_cast<size_t>(rank), Dim(1)));
  TVC_TRY(auto axes, axis_set(v, 1, rank));
  return std::optional<AxisSet>(std::move(axes));
}

bool is_known(const AxisSet& set) {
  return std::all_of(set.begin(), set.end(), [](const Dim& member) { return member.is_constant(); });
}

Result<void> infer_reduce(InferContext& c) {
  TVC_TRY(auto reduced, reduced_axes(c));
  if (!reduced) {
    c.set(0, c.type(0));
    return {};
  }
  const Shape& from = c.shape(0);
  const bool keep = c.i("keepdims", 1) != 0;
  Shape shape;
  if (keep || is_known(*reduced)) {
    for (size_t k = 0; k < from.size(); ++k)
      if (keep || !(*reduced)[k].is(1)) shape.push_back(if_member((*reduced)[k], 1, from[k]));
  } else {
    shape = shape_without(from, *reduced, static_cast<int64_t>(c.elements(1)->size()));
  }
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

// The axes of the result, those of the reduction, where it reads, and the number of elements that go into one result.
struct Parts {
  std::vector<te::Axis> out, over;
  std::vector<Expr> index;
  Dim count = 1;
};

Parts parts_of(const NodeView& v, const AxisSet& reduced) {
  Parts p;
  p.out = axes_of(v.out_type(0).shape);
  const bool keep = v.i("keepdims", 1) != 0, known = is_known(reduced);
  const auto places = kept_before(reduced);
  size_t next = 0;
  for (size_t k = 0; k < reduced.size(); ++k) {
    Expr at = te::index(0);  // along the result
    if (!reduced[k].is(1) && (keep || known)) {
      at = te::var(p.out[keep ? k : next++].var);
    } else if (!reduced[k].is(1)) {
      for (size_t axis = 0; axis < p.out.size(); ++axis) {
        Expr here = te::eq(te::dim(places[k]), te::index(static_cast<int64_t>(axis)));
        at = te::select(here, te::var(p.out[axis].var), at);
      }
      at = if_member(reduced[k], te::index(0), at);
    }
    if (!reduced[k].is(0)) {
      p.over.push_back({te::fresh_var(), if_member(reduced[k], v.shape(0)[k], 1)});
      p.count = p.count * p.over.back().extent;
      at = at + te::var(p.over.back().var);
    }
    p.index.push_back(at);
  }
  return p;
}

using Map = Expr (*)(const Expr&);
using Finish = Expr (*)(const Expr& total, const Expr& count);
Expr same(const Expr& x) { return x; }
Expr square(const Expr& x) { return x * x; }
Expr absolute(const Expr& x) { return te::unary(Op::kAbs, x); }
Expr total(const Expr& t, const Expr&) { return t; }
Expr divided(const Expr& t, const Expr& n) { return t / te::cast(t->dtype, n); }
Expr root(const Expr& t, const Expr&) {
  return ir::is_float(t->dtype) ? te::unary(Op::kSqrt, t)
                                : te::cast(t->dtype, te::unary(Op::kSqrt, te::cast(DType::kF64, t)));
}
Expr logarithm(const Expr& t, const Expr&) {
  return ir::is_float(t->dtype) ? te::unary(Op::kLog, t)
                                : te::cast(t->dtype, te::unary(Op::kLog, te::cast(DType::kF64, t)));
}

template <ReduceOp op, Map map, Finish finish>
Expressions express_reduce(const NodeView& v) {
  TVC_TRY(auto reduced, reduced_axes(v));
  const DType dtype = v.dtype(0);
  if (!reduced) {
    auto axes = axes_of(v.out_type(0).shape);
    Expr x = te::read(0, dtype, broadcast_index(v.shape(0), v.shape(0), axes));
    return std::vector<te::TensorExpr>{{dtype, axes, te::cast(dtype, finish(map(x), te::index(1)))}};
  }
  Parts p = parts_of(v, *reduced);
  Expr x = te::read(0, dtype, p.index);
  Expr sum = p.over.empty() ? map(x) : te::reduce(op, p.over, map(x));
  return std::vector<te::TensorExpr>{{dtype, p.out, te::cast(dtype, finish(sum, te::dim(p.count)))}};
}

template <bool largest>
Expressions express_extreme(const NodeView& v) {
  if (v.dtype(0) == DType::kBool)
    return largest ? express_reduce<ReduceOp::kAny, same, total>(v) : express_reduce<ReduceOp::kAll, same, total>(v);
  return largest ? express_reduce<ReduceOp::kMax, same, total>(v) : express_reduce<ReduceOp::kMin, same, total>(v);
}

// log(sum(exp(x))) = m + log(sum(exp(x - m))), m the largest x, so that nothing overflows. Integers as f64.
Expressions express_log_sum_exp(const NodeView& v) {
  TVC_TRY(auto reduced, reduced_axes(v));
  const DType dtype = v.dtype(0);
  if (!reduced) {
    auto axes = axes_of(v.out_type(0).shape);
    return std::vector<te::TensorExpr>{
        {dtype, axes, te::read(0, dtype, broadcast_index(v.shape(0), v.shape(0), axes))}};
  }
  const DType compute = ir::is_float(dtype) ? ir::compute_type(dtype) : DType::kF64;
  Parts p = parts_of(v, *reduced), q = parts_of(v, *reduced);
  for (size_t k = 0; k < p.out.size(); ++k)
    for (Expr& i : q.index)
      i = te::substitute_vars(i, [&](int id) -> Expr { return id == q.out[k].var ? te::var(p.out[k].var) : nullptr; });
  Expr highest = te::reduce(ReduceOp::kMax, p.over, te::cast(compute, te::read(0, dtype, p.index)));
  Expr finite = te::select(te::unary(Op::kIsInf, highest), te::number(compute, 0), highest);
  Expr x = te::cast(compute, te::read(0, dtype, q.index));
  Expr sum = te::reduce(ReduceOp::kSum, q.over, te::unary(Op::kExp, x - finite));
  return std::vector<te::TensorExpr>{{dtype, p.out, te::cast(dtype, finite + te::unary(Op::kLog, sum))}};
}

Result<void> infer_arg(InferContext& c) {
  TVC_TRY(int axis, c.axis(c.i("axis", 0), c.rank(0)));
  Shape shape = c.shape(0);
  if (c.i("keepdims", 1) != 0) shape[static_cast<size_t>(axis)] = 1;
  else shape.erase(shape.begin() + axis);
  c.set(0, DType::kI64, std::move(shape));
  return {};
}

template <ReduceOp op>
Expressions express_arg(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  AxisSet reduced(static_cast<size_t>(v.rank(0)), Dim(0));
  reduced[static_cast<size_t>(axis)] = 1;
  Parts p = parts_of(v, reduced);
  const bool last = v.i("select_last_index", 0) != 0;
  Expr end = te::dim(v.shape(0)[static_cast<size_t>(axis)]) - te::index(1);
  if (last) p.index[static_cast<size_t>(axis)] = end - te::var(p.over[0].var);
  Expr at = te::reduce(op, p.over, te::read(0, v.dtype(0), p.index));
  return std::vector<te::TensorExpr>{{DType::kI64, p.out, last ? end - at : at}};
}

// y[i] = sum (product) over j <= i of x[j] along one axis; `exclusive`: j < i; `reverse`: from the other end.
template <ReduceOp op>
Expressions express_running(const NodeView& v) {
  auto given = v.elements(1);
  if (!given || given->size() != 1) return bad_input("the axis is no single number");
  TVC_TRY(auto along, axis_set(v, *given, v.rank(0)));
  auto axes = axes_of(v.out_type(0).shape);
  te::Axis over{te::fresh_var(), 0};
  Expr i = te::index(0), j = te::var(over.var);
  std::vector<Expr> index;
  for (size_t k = 0; k < axes.size(); ++k) {
    Expr self = te::var(axes[k].var);
    over.extent = if_member(along[k], v.shape(0)[k], over.extent);
    i = if_member(along[k], self, i);
    index.push_back(if_member(along[k], j, self));
  }
  const bool exclusive = v.i("exclusive", 0) != 0, reverse = v.i("reverse", 0) != 0;
  Expr inside = reverse ? (exclusive ? te::gt(j, i) : te::ge(j, i)) : (exclusive ? te::lt(j, i) : te::le(j, i));
  Expr x = te::read(0, v.dtype(0), index);
  Expr neutral = ir::is_float(x->dtype) ? te::number(x->dtype, op == ReduceOp::kProd)
                                        : te::integer(x->dtype, op == ReduceOp::kProd);
  return std::vector<te::TensorExpr>{
      {v.dtype(0), axes, te::cast(v.dtype(0), te::reduce(op, {over}, te::select(inside, x, neutral)))}};
}

}  // namespace

#define TVC_REDUCE(symbol, onnx_name, rule)                                                                    \
  TVC_DEFINE_OP(symbol) = {.name = onnx_name,                                                                  \
                           .infer = infer_reduce,                                                              \
                           .express = rule,                                                                    \
                           .samples = {"f32[2,3,4]", "f32[3,5] | keepdims=0", "i32[4]", "f16[2,9], i64[1]{1}", \
                                       "f32[2,3,4], i64[2]{0, -1} | keepdims=0"}}

using ReduceRule = Expressions (*)(const NodeView&);
constexpr ReduceRule kSumRule = express_reduce<ReduceOp::kSum, same, total>,
                     kMeanRule = express_reduce<ReduceOp::kSum, same, divided>,
                     kProdRule = express_reduce<ReduceOp::kProd, same, total>,
                     kL1Rule = express_reduce<ReduceOp::kSum, absolute, total>,
                     kL2Rule = express_reduce<ReduceOp::kSum, square, root>,
                     kSquareRule = express_reduce<ReduceOp::kSum, square, total>,
                     kLogRule = express_reduce<ReduceOp::kSum, same, logarithm>;
TVC_REDUCE(kReduceSum, "ReduceSum", kSumRule);
TVC_REDUCE(kReduceMean, "ReduceMean", kMeanRule);
TVC_REDUCE(kReduceProd, "ReduceProd", kProdRule);
TVC_REDUCE(kReduceL1, "ReduceL1", kL1Rule);
TVC_REDUCE(kReduceL2, "ReduceL2", kL2Rule);
TVC_REDUCE(kReduceSumSquare, "ReduceSumSquare", kSquareRule);
TVC_REDUCE(kReduceLogSum, "ReduceLogSum", kLogRule);
TVC_REDUCE(kReduceLogSumExp, "ReduceLogSumExp", express_log_sum_exp);
TVC_REDUCE(kReduceMax, "ReduceMax", express_extreme<true>);
TVC_REDUCE(kReduceMin, "ReduceMin", express_extreme<false>);

TVC_DEFINE_OP(kArgMax) = {
    .name = "ArgMax", .infer = infer_arg, .express = express_arg<ReduceOp::kArgMax>, .samples = {"f32[3,4] | axis=1"}};
TVC_DEFINE_OP(kArgMin) = {
    .name = "ArgMin", .infer = infer_arg, .express = express_arg<ReduceOp::kArgMin>, .samples = {"f32[3,4] | axis=1"}};
TVC_DEFINE_OP(kCumSum) = {.name = "CumSum",
                          .infer = infer_same_as_input,
                          .express = express_running<ReduceOp::kSum>,
                          .samples = {"f32[3,5], i64[]{1}", "i32[6], i32[1]{0} | exclusive=1 reverse=1"}};
TVC_DEFINE_OP(kCumProd) = {.name = "CumProd",
                           .infer = infer_same_as_input,
                           .express = express_running<ReduceOp::kProd>,
                           .samples = {"f32[3,5], i64[]{0}"}};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Pooling over windows and over everything: maximum, mean, Lp norm.
#include "ops/window.h"

namespace tvc::ops {
namespace {

using te::Expr;
using te::Op;
using te::ReduceOp;
using Expressions = Result<std::vector<te::TensorExpr>>;

struct Pool {
  Window window;
  Shape in;
  std::vector<te::Axis> out, taps;
  std::vector<Expr> at;  // index into the input
  Expr inside;           // the tap lies in the input
};

Result<Pool> pool_of(const NodeView& v, const Shape& out_shape) {
  Pool p;
  p.in = spatial_shape(v.shape(0));
  TVC_TRY(p.window, window_of(v, p.in));
  p.out = axes_of(out_shape);
  p.taps = tap_axes(p.window);
  p.at = {te::var(p.out[0].var), te::var(p.out[1].var)};
  p.inside = te::boolean(true);
  const bool ceil_mode = v.i("ceil_mode", 0) != 0;
  for (size_t k = 0; k < p.window.rank(); ++k) {
    Expr position = tap_position(p.window, k, te::var(p.out[2 + k].var), te::var(p.taps[k].var));
    bool padded = !p.window.pad_begin[k].is(0) || !p.window.pad_end[k].is(0) || ceil_mode;
    if (padded) p.inside = te::land(p.inside, te::in_range(position, p.in[k]));
    p.at.push_back(position);
  }
  return p;
}

Result<void> infer_pool(InferContext& c) {
  if (c.rank(0) < 3) return bad_input("the input has rank {}", c.rank(0));
  TVC_TRY(Window w, window_of(c, spatial_shape(c.shape(0))));
  Shape out = {c.shape(0)[0], c.shape(0)[1]};
  out.insert(out.end(), w.out.begin(), w.out.end());
  c.set(0, c.dtype(0), out);
  c.set(1, DType::kI64, out);
  return {};
}

Expr lowest(DType compute) {
  if (ir::is_float(compute)) return te::number(compute, -__builtin_inf());
  return te::integer(compute, ir::is_unsigned_int(compute) ? 0 : compute == DType::kI8 ? -128 : INT64_MIN);
}

// Where the largest element lies, as an index into the whole flattened input.
Result<te::TensorExpr> largest_at(const NodeView& v) {
  TVC_TRY(Pool p, pool_of(v, v.out_type(1).shape));
  // One axis over all taps: positions follow from its digits.
  int64_t count = 1;
  for (int64_t k : p.window.kernel) count *= k;
  te::Axis flat{te::fresh_var(), count};
  std::vector<Expr> digits(p.window.rank());
  Expr rest = te::var(flat.var);
  for (size_t k = p.window.rank(); k-- > 0;) {
    digits[k] = k == 0 ? rest : te::binary(Op::kRem, rest, te::index(p.window.kernel[k]));
    rest = rest / te::index(p.window.kernel[k]);
  }
  auto by_flat = [&](const Expr& e, const Expr& number) {
    return te::substitute_vars(e, [&](int id) -> Expr {
      for (size_t k = 0; k < p.taps.size(); ++k)
        if (p.taps[k].var == id)
          return te::substitute_vars(digits[k], [&](int f) -> Expr { return f == flat.var ? number : nullptr; });
      return nullptr;
    });
  };
  Expr value = te::select(p.inside, te::read(0, v.dtype(0), p.at), lowest(ir::compute_type(v.dtype(0))));
  Expr best = te::reduce(ReduceOp::kArgMax, {flat}, by_flat(value, te::var(flat.var)));
  Expr position = te::var(p.out[0].var) * te::dim(v.shape(0)[1]) + te::var(p.out[1].var);
  const bool column_major = v.i("storage_order", 0) != 0;
  Expr plane = te::index(0);
  for (size_t n = 0; n < p.window.rank(); ++n) {
    size_t k = column_major ? p.window.rank() - 1 - n : n;
    plane = plane * te::dim(p.in[k]) + by_flat(p.at[2 + k], best);
  }
  return te::TensorExpr{DType::kI64, p.out, position * te::dim(ir::product(p.in)) + plane};
}

Expressions express_max_pool(const NodeView& v) {
  std::vector<te::TensorExpr> out;
  TVC_TRY(Pool p, pool_of(v, v.out_type(0).shape));
  Expr x = te::select(p.inside, te::read(0, v.dtype(0), p.at), lowest(ir::compute_type(v.dtype(0))));
  out.push_back({v.dtype(0), p.out, te::reduce(ReduceOp::kMax, p.taps, x)});
  if (v.has_output(1)) {
    TVC_TRY(auto indices, largest_at(v));
    out.push_back(std::move(indices));
  }
  return out;
}

// How many elements of the window count: those in the input, or also those in the padding that is said.
Expr window_count(const Pool& p, bool include_pad) {
  Expr count = te::index(1);
  for (size_t k = 0; k < p.window.rank(); ++k) {
    te::Axis tap{te::fresh_var(), p.window.kernel[k]};
    Expr position = tap_position(p.window, k, te::var(p.out[2 + k].var), te::var(tap.var));
    Expr low = include_pad ? te::index(0) - te::dim(p.window.pad_begin[k]) : te::index(0);
    Expr high = include_pad ? te::dim(p.in[k] + p.window.pad_end[k]) : te::dim(p.in[k]);
    Expr counted = te::select(te::land(te::ge(position, low), te::lt(position, high)), te::index(1), te::index(0));
    count = count * te::reduce(ReduceOp::kSum, {tap}, counted);
  }
  return count;
}

Expressions express_average_pool(const NodeView& v) {
  TVC_TRY(Pool p, pool_of(v, v.out_type(0).shape));
  const bool include_pad = v.i("count_include_pad", 0) != 0, plain = p.inside->op == Op::kConst;
  Expr x = te::read(0, v.dtype(0), p.at);
  Expr sum = te::reduce(ReduceOp::kSum, p.taps, te::select(p.inside, x, te::number(x->dtype, 0)));
  int64_t full = 1;
  for (int64_t k : p.window.kernel) full *= k;
  Expr count = plain ? te::index(full) : window_count(p, include_pad);
  return std::vector<te::TensorExpr>{{v.dtype(0), p.out, sum / te::cast(x->dtype, count)}};
}

Expr power_sum(const Expr& x, int64_t p) {
  Expr magnitude = te::unary(Op::kAbs, x);
  return p == 1   ? magnitude
         : p == 2 ? x * x
                  : te::binary(Op::kPow, magnitude, te::number(x->dtype, static_cast<double>(p)));
}
Expr root_of(const Expr& sum, int64_t p) {
  return p == 1   ? sum
         : p == 2 ? te::unary(Op::kSqrt, sum)
                  : te::binary(Op::kPow, sum, te::number(sum->dtype, 1.0 / static_cast<double>(p)));
}

Expressions express_lp_pool(const NodeView& v) {
  TVC_TRY(Pool p, pool_of(v, v.out_type(0).shape));
  const int64_t power = v.i("p", 2);
  Expr x = te::read(0, v.dtype(0), p.at);
  Expr sum = te::reduce(ReduceOp::kSum, p.taps, te::select(p.inside, power_sum(x, power), te::number(x->dtype, 0)));
  return std::vector<te::TensorExpr>{{v.dtype(0), p.out, root_of(sum, power)}};
}

Result<void> infer_global(InferContext& c) {
  if (c.rank(0) < 3) return bad_input("the input has rank {}", c.rank(0));
  Shape out = c.shape(0);
  for (size_t k = 2; k < out.size(); ++k) out[k] = 1;
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

enum class Global { kAverage, kMax, kLp };
template <Global kind>
Expressions express_global(const NodeView& v) {
  auto out = axes_of(v.out_type(0).shape);
  std::vector<te::Axis> over;
  std::vector<Expr> at = {te::var(out[0].var), te::var(out[1].var)};
  for (const Dim& d : spatial_shape(v.shape(0))) {
    over.push_back({te::fresh_var(), d});
    at.push_back(te::var(over.back().var));
  }
  Expr x = te::read(0, v.dtype(0), at), y;
  if (kind == Global::kMax) y = te::reduce(ReduceOp::kMax, over, x);
  if (kind == Global::kAverage)
    y = te::reduce(ReduceOp::kSum, over, x) / te::cast(x->dtype, te::dim(ir::product(spatial_shape(v.shape(0)))));
  if (kind == Global::kLp) y = root_of(te::reduce(ReduceOp::kSum, over, power_sum(x, v.i("p", 2))), v.i("p", 2));
  return std::vector<te::TensorExpr>{{v.dtype(0), out, y}};
}

}  // namespace

TVC_DEFINE_OP(kMaxPool) = {.name = "MaxPool",
                           .infer = infer_pool,
                           .express = express_max_pool,
                           .samples = {"f32[1,2,5,7] | kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]"}};
TVC_DEFINE_OP(kAveragePool) = {.name = "AveragePool",
                               .infer = infer_pool,
                               .express = express_average_pool,
                               .samples = {"f32[1,2,5,7] | kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]"}};
TVC_DEFINE_OP(kLpPool) = {.name = "LpPool",
                          .infer = infer_pool,
                          .express = express_lp_pool,
                          .samples = {"f32[1,2,5,7] | kernel_shape=[2,2]"}};
TVC_DEFINE_OP(kGlobalAveragePool) = {.name = "GlobalAveragePool",
                                     .infer = infer_global,
                                     .express = express_global<Global::kAverage>,
                                     .samples = {"f32[1,2,5,7]"}};
TVC_DEFINE_OP(kGlobalMaxPool) = {.name = "GlobalMaxPool",
                                 .infer = infer_global,
                                 .express = express_global<Global::kMax>,
                                 .samples = {"f32[1,2,5,7]"}};
TVC_DEFINE_OP(kGlobalLpPool) = {
    .name = "GlobalLpPool", .infer = infer_global, .express = express_global<Global::kLp>, .samples = {"f32[1,2,5,7]"}};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Products of matrices: MatMul (numpy's, with batches), Gemm = alpha A B + beta C, MatMulInteger.
#include <algorithm>

#include "ops/body.h"
#include "ops/products.h"

namespace tvc::ops {
namespace {

using te::Expr;
using Expressions = Result<std::vector<te::TensorExpr>>;

struct Product {
  Shape batch;  // broadcast
  Dim m, n, k;
  bool row, column;  // the operand is a vector: no M, or no N
};

Result<Product> product_of(const NodeView& v, size_t right = 1) {
  Shape a = v.shape(0), b = v.shape(right);
  if (a.empty() || b.empty()) return bad_input("an operand has rank 0");
  Product p;
  p.row = a.size() == 1;
  p.column = b.size() == 1;
  if (p.row) a.insert(a.begin(), 1);
  if (p.column) b.emplace_back(1);
  p.m = a[a.size() - 2];
  p.k = a.back();
  p.n = b.back();
  const Dim& k = b[b.size() - 2];
  if (p.k.is_constant() && k.is_constant() && p.k != k)
    return bad_input("inner sizes {} and {} differ", p.k.text(), k.text());
  if (!p.k.is_constant()) p.k = k;
  TVC_TRY(p.batch, broadcast_shapes({Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2)}));
  return p;
}

}  // namespace

Result<void> infer_product(InferContext& c, DType dtype, size_t right) {
  TVC_TRY(Product p, product_of(c, right));
  Shape out = p.batch;
  if (!p.row) out.push_back(p.m);
  if (!p.column) out.push_back(p.n);
  c.set(0, dtype, std::move(out));
  return {};
}

namespace {

Result<void> infer_matmul(InferContext& c) {
  TVC_CHECK_OK(infer_product(c, c.dtype(0)));
  return infer_epilogue(c);
}

Result<void> infer_matmul_integer(InferContext& c) {
  for (size_t k : {2, 3})
    if (c.has_input(k) && c.rank(k) > std::max(c.rank(k - 2), 1))
      return bad_input("a zero point has rank {}, its operand {}", c.rank(k), c.rank(k - 2));
  return infer_product(c, DType::kI32);
}

// Index of operand k: its batch axes broadcast, then `inner`.
std::vector<Expr> batch_index(const NodeView& v, size_t operand, const Product& p, const std::vector<te::Axis>& out,
                              std::vector<Expr> inner) {
  const Shape& shape = v.shape(operand);
  if (shape.size() == 1) return {operand == 0 ? inner[1] : inner[0]};
  Shape batch(shape.begin(), shape.end() - 2);
  auto index = broadcast_index(batch, p.batch, {out.begin(), out.begin() + static_cast<ptrdiff_t>(p.batch.size())});
  index.insert(index.end(), inner.begin(), inner.end());
  return index;
}

struct Places {
  std::vector<te::Axis> out;
  te::Axis k;
  std::vector<Expr> a, b;
};

Result<Places> places_of(const NodeView& v) {
  TVC_TRY(Product p, product_of(v));
  Places places{axes_of(v.out_type(0).shape), {te::fresh_var(), p.k}, {}, {}};
  size_t next = p.batch.size();
  Expr m = p.row ? te::index(0) : te::var(places.out[next++].var);
  Expr n = p.column ? te::index(0) : te::var(places.out[next].var);
  Expr k = te::var(places.k.var);
  places.a = batch_index(v, 0, p, places.out, {m, k});
  places.b = batch_index(v, 1, p, places.out, {k, n});
  return places;
}

Expressions express_matmul(const NodeView& v) {
  TVC_TRY(Places p, places_of(v));
  Expr sum = te::reduce(te::ReduceOp::kSum, {p.k}, te::read(0, v.dtype(0), p.a) * te::read(1, v.dtype(1), p.b));
  TVC_TRY(auto expression, with_epilogue(v, {v.out_type(0).dtype, p.out, sum}));
  return std::vector<te::TensorExpr>{std::move(expression)};
}

// A zero point is one number, or one a row of A, or one a column of B.
Expr less_zero_point(const NodeView& v, size_t operand, const std::vector<Expr>& at) {
  Expr x = te::cast(DType::kI32, te::read(static_cast<int>(operand), v.dtype(operand), at));
  const size_t zero = operand + 2;
  if (!v.has_input(zero)) return x;
  std::vector<Expr> index;
  const Shape& shape = v.shape(zero);
  if (shape.size() == 1) {
    index.push_back(shape[0].is(1) || at.size() < 2 ? te::index(0) : operand == 0 ? at[at.size() - 2] : at.back());
  } else {
    for (size_t k = 0; k < shape.size(); ++k)
      index.push_back(shape[k].is(1) ? te::index(0) : at[at.size() - shape.size() + k]);
  }
  return x - te::cast(DType::kI32, te::read(static_cast<int>(zero), v.dtype(zero), index));
}

Expressions express_matmul_integer(const NodeView& v) {
  TVC_TRY(Places p, places_of(v));
  Expr sum = te::reduce(te::ReduceOp::kSum, {p.k}, less_zero_point(v, 0, p.a) * less_zero_point(v, 1, p.b));
  return std::vector<te::TensorExpr>{{DType::kI32, p.out, sum}};
}

Result<void> infer_gemm(InferContext& c) {
  if (c.rank(0) != 2 || c.rank(1) != 2)
    return bad_input("the operands have ranks {} and {}, not 2", c.rank(0), c.rank(1));
  const bool ta = c.i("transA", 0) != 0, tb = c.i("transB", 0) != 0;
  const Dim &ka = c.shape(0)[ta ? 0 : 1], &kb = c.shape(1)[tb ? 1 : 0];
  if (ka.is_constant() && kb.is_constant() && ka != kb)
    return bad_input("inner sizes {} and {} differ", ka.text(), kb.text());
  c.set(0, c.dtype(0), {c.shape(0)[ta ? 1 : 0], c.shape(1)[tb ? 0 : 1]});
  return infer_epilogue(c);
}

Expressions express_gemm(const NodeView& v) {
  const bool ta = v.i("transA", 0) != 0, tb = v.i("transB", 0) != 0;
  auto out = axes_of(v.out_type(0).shape);
  te::Axis over{te::fresh_var(), v.shape(1)[tb ? 1 : 0]};
  Expr m = te::var(out[0].var), n = te::var(out[1].var), k = te::var(over.var);
  auto at = [](bool transposed, const Expr& i, const Expr& j) {
    return transposed ? std::vector<Expr>{j, i} : std::vector<Expr>{i, j};
  };
  Expr sum = te::reduce(te::ReduceOp::kSum, {over},
                        te::read(0, v.dtype(0), at(ta, m, k)) * te::read(1, v.dtype(1), at(tb, k, n)));
  auto scale = [&](std::string_view key, const Expr& x) {
    double factor = v.f(key, 1);
    if (factor == 1) return x;
    if (ir::is_float(x->dtype)) return x * te::number(x->dtype, factor);
    return te::cast(x->dtype, te::cast(DType::kF32, x) * te::number(DType::kF32, factor));
  };
  Expr y = scale("alpha", sum);
  if (v.has_input(2))
    y = y + scale("beta", te::read(2, v.dtype(2), broadcast_index(v.shape(2), v.out_type(0).shape, out)));
  TVC_TRY(auto expression, with_epilogue(v, {v.dtype(0), out, y}));
  return std::vector<te::TensorExpr>{std::move(expression)};
}

}  // namespace

TVC_DEFINE_OP(kMatMul) = {.name = "MatMul",
                          .infer = infer_matmul,
                          .express = express_matmul,
                          .tolerance = {.relative = 1e-4, .absolute = 1e-5},
                          .samples = {"f32[3,5], f32[5,7]", "f32[2,1,3,5], f32[4,5,2]", "f32[5], f32[5,3]"}};
TVC_DEFINE_OP(kGemm) = {.name = "Gemm",
                        .infer = infer_gemm,
                        .express = express_gemm,
                        .tolerance = {.relative = 1e-4, .absolute = 1e-5},
                        .samples = {"f32[3,5], f32[5,7], f32[7]", "f32[5,3], f32[7,5] | transA=1 transB=1 alpha=0.5"}};
TVC_DEFINE_OP(kMatMulInteger) = {
    .name = "MatMulInteger",
    .infer = infer_matmul_integer,
    .express = express_matmul_integer,
    .samples = {"u8[3,5], u8[5,7]", "i8[2,3,5], u8[5,4], i8[], u8[4]", "u8[2,3,5], i8[2,5,4], u8[2,3,1], i8[2,1,4]"}};

}  // namespace tvc::ops

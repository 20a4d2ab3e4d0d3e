// SPDX-License-Identifier: Apache-2.0
// tvc.Attention(Q, K, V, bias?, mask?): scaled dot-product attention over stacks of matrices of rank 2 to 4, as
// passes/recognise/attention.cpp finds it.
//   q = Transpose(Q, q_perm) [.., S, D], k = Transpose(K, k_perm) [.., T, D], v = Transpose(V, v_perm) [.., T, E]
//   s = Where(mask, scale q k^T + bias, masked);  y = Transpose(Softmax(s) v, y_perm)
// zero_nan: rows of Softmax(s) that are NaN (all scores -inf) count as 0.
#include <algorithm>
#include <array>
#include <numeric>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

Result<std::vector<int64_t>> perm_of(const NodeView& v, std::string_view key, size_t rank) {
  auto perm = v.ints(key);
  auto sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t k = 0; k < rank; ++k)
    if (sorted.size() != rank || sorted[k] != static_cast<int64_t>(k)) return internal("{} is no permutation", key);
  return perm;
}

Shape turned(const Shape& shape, const std::vector<int64_t>& perm) {
  Shape out;
  for (int64_t axis : perm) out.push_back(shape[static_cast<size_t>(axis)]);
  return out;
}

Result<void> infer_attention(InferContext& c) {
  const size_t rank = c.shape(0).size();
  if (rank < 2 || rank > 4 || c.shape(1).size() != rank || c.shape(2).size() != rank)
    return internal("tvc.Attention over ranks {}, {}, {}", rank, c.rank(1), c.rank(2));
  std::array<Shape, 3> shapes;
  const char* const keys[] = {"q_perm", "k_perm", "v_perm"};
  for (size_t k = 0; k < 3; ++k) {
    TVC_TRY(auto perm, perm_of(c, keys[k], rank));
    shapes[k] = turned(c.shape(k), perm);
  }
  TVC_TRY(auto y_perm, perm_of(c, "y_perm", rank));
  std::vector<Shape> batches;
  for (const Shape& shape : shapes) batches.emplace_back(shape.begin(), shape.end() - 2);
  TVC_TRY(Shape y, broadcast_shapes(batches));
  y.push_back(shapes[0][rank - 2]);
  y.push_back(shapes[2][rank - 1]);
  c.set(0, c.dtype(0), turned(y, y_perm));
  return {};
}

Result<ir::ValueId> transposed(DecomposeContext& c, ir::ValueId x, std::string_view key) {
  auto perm = c.node().ints(key);
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return c.add("Transpose", {x}, {{"perm", perm}});
}

Result<std::vector<ir::ValueId>> decompose_attention(DecomposeContext& c) {
  TVC_TRY(auto q, transposed(c, c.in(0), "q_perm"));
  TVC_TRY(auto k, transposed(c, c.in(1), "k_perm"));
  TVC_TRY(auto v, transposed(c, c.in(2), "v_perm"));
  std::vector<int64_t> swap(c.shape(0).size());
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
  TVC_TRY(k, c.add("Transpose", {k}, {{"perm", swap}}));
  TVC_TRY(q, c.add("Mul", {q, c.scalar(c.dtype(0), c.f("scale", 1))}));
  TVC_TRY(auto scores, c.add("MatMul", {q, k}));
  if (c.has_input(3)) {
    TVC_TRY(scores, c.add("Add", {scores, c.in(3)}));
  }
  if (c.has_input(4)) {
    TVC_TRY(scores, c.add("Where", {c.in(4), scores, c.scalar(c.dtype(0), c.f("masked", 0))}));
  }
  TVC_TRY(auto weights, c.add("Softmax", {scores}, {{"axis", int64_t{-1}}}));
  if (c.i("zero_nan", 0) != 0) {
    TVC_TRY(auto nan, c.add("IsNaN", {weights}));
    TVC_TRY(weights, c.add("Where", {nan, c.scalar(c.dtype(0), 0), weights}));
  }
  TVC_TRY(auto y, c.add("MatMul", {weights, v}));
  TVC_TRY(y, transposed(c, y, "y_perm"));
  return std::vector<ir::ValueId>{y};
}

}  // namespace

TVC_DEFINE_OP(kAttentionRows) = {
    .name = "tvc.Attention",
    .infer = infer_attention,
    .decompose = decompose_attention,
    .tolerance = {.relative = 2e-5, .absolute = 2e-6},
    .samples = {
        "f32[2,3,8], f32[2,5,8], f32[2,5,4] | scale=0.35 q_perm=[0,1,2] k_perm=[0,1,2] v_perm=[0,1,2] y_perm=[0,1,2]",
        "f32[1,7,2,8], f32[1,2,8,21], f32[1,21,2,20], f32[7,21], bool[1,1,1,21]{1,1,0,1,1,1,1,1,1,1,1,1,0,0,0,1,1,1,1,1,0} | "
        "masked=-1e9 q_perm=[0,2,1,3] k_perm=[0,1,3,2] v_perm=[0,2,1,3] y_perm=[0,2,1,3]",
        "f32[2,2,1,8], f32[2,1,9,8], f32[2,1,9,16], _, bool[1]{0} | "
        "masked=-1e30 zero_nan=1 q_perm=[0,1,2,3] k_perm=[0,1,2,3] v_perm=[0,1,2,3] y_perm=[0,1,2,3]"}};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's contributed forms of normalisations and products, as decompositions:
// SkipLayerNormalization(x, skip, gamma, beta, bias) = LayerNormalization(x + skip + bias, gamma, beta);
// SkipSimplifiedLayerNormalization(x, skip, gamma, bias) = RMSNormalization(x + skip + bias, gamma);
// SimplifiedLayerNormalization(x, scale) = RMSNormalization(x, scale);
// FusedMatMul(a, b) = alpha * MatMul(a', b'), ' a transposition of the last two axes.
#include <numeric>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using Values = Result<std::vector<ir::ValueId>>;

// Outputs: y, mean, 1 / deviation, x + skip + bias.
Result<void> infer_skip(InferContext& c) {
  c.set(0, c.type(0));
  Shape reduced = c.shape(0);
  if (reduced.empty()) return bad_input("the input has rank 0");
  reduced.back() = 1;
  c.set(1, DType::kF32, reduced);
  c.set(2, DType::kF32, reduced);
  c.set(3, c.type(0));
  return {};
}

template <bool simplified>
Values decompose_skip(DecomposeContext& c) {
  constexpr size_t kBias = simplified ? 3 : 4;
  TVC_TRY(auto sum, c.add("Add", {c.in(0), c.in(1)}));
  if (c.has_input(kBias)) {
    TVC_TRY(sum, c.add("Add", {sum, c.in(kBias)}));
  }
  if (simplified && (c.has_output(1) || c.has_output(2))) return unsupported("mean and deviation as outputs");
  std::map<std::string, ir::Attr, std::less<>> attrs = {{"axis", int64_t{-1}}, {"epsilon", c.f("epsilon", 1e-12)}};
  if (simplified) {
    TVC_TRY(auto y, c.add("RMSNormalization", {sum, c.in(2)}, attrs));
    return std::vector<ir::ValueId>{y, ir::kNone, ir::kNone, sum};
  }
  std::vector<ir::ValueId> inputs = {sum, c.in(2)};
  if (c.has_input(3)) inputs.push_back(c.in(3));
  TVC_TRY(auto parts, c.add_multi("LayerNormalization", inputs, attrs, 3));
  parts.push_back(sum);
  return parts;
}

Values decompose_simplified(DecomposeContext& c) {
  if (c.has_output(1)) return unsupported("the deviation as an output");
  TVC_TRY(auto y, c.add("RMSNormalization", {c.in(0), c.in(1)},
                        {{"axis", c.i("axis", -1)}, {"epsilon", c.f("epsilon", 1e-5)}}));
  return std::vector<ir::ValueId>{y};
}

// The shape of a stack of matrices, its last two sizes exchanged if asked for.
Shape turned(Shape shape, bool turn) {
  if (turn && shape.size() >= 2) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

Result<void> infer_fused_matmul(InferContext& c) {
  if (c.i("transBatchA", 0) != 0 || c.i("transBatchB", 0) != 0) return unsupported("batches that are transposed");
  if (c.rank(0) < 2 || c.rank(1) < 2) return bad_input("operands of rank {} and {}", c.rank(0), c.rank(1));
  Shape a = turned(c.shape(0), c.i("transA", 0) != 0), b = turned(c.shape(1), c.i("transB", 0) != 0);
  const Dim rows = a[a.size() - 2], columns = b.back(), depth = a.back(), other = b[b.size() - 2];
  if (depth.is_constant() && other.is_constant() && depth != other)
    return bad_input("depths {} and {} differ", depth.text(), other.text());
  TVC_TRY(Shape shape, broadcast_shapes({{a.begin(), a.end() - 2}, {b.begin(), b.end() - 2}}));
  shape.push_back(rows);
  shape.push_back(columns);
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Result<ir::ValueId> turned(DecomposeContext& c, size_t k, std::string_view attribute) {
  if (c.i(attribute, 0) == 0) return c.in(k);
  std::vector<int64_t> order(static_cast<size_t>(c.rank(k)));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return c.add("Transpose", {c.in(k)}, {{"perm", order}});
}

Values decompose_fused_matmul(DecomposeContext& c) {
  TVC_TRY(auto a, turned(c, 0, "transA"));
  TVC_TRY(auto b, turned(c, 1, "transB"));
  TVC_TRY(auto y, c.add("MatMul", {a, b}));
  if (c.f("alpha", 1) != 1) {
    TVC_TRY(y, c.add("Mul", {y, c.scalar(c.dtype(0), c.f("alpha", 1))}));
  }
  return std::vector<ir::ValueId>{y};
}

}  // namespace

TVC_DEFINE_OP(kMicrosoftSkipLayerNormalization) = {
    .name = "com.microsoft.SkipLayerNormalization",
    .infer = infer_skip,
    .decompose = decompose_skip<false>,
    .samples = {"f32[2,3,8], f32[2,3,8], f32[8], f32[8], f32[8]", "f32[2,3,8], f32[1,3,8], f32[8]"}};
TVC_DEFINE_OP(kMicrosoftSkipSimplifiedLayerNormalization) = {.name = "com.microsoft.SkipSimplifiedLayerNormalization",
                                                             .infer = infer_skip,
                                                             .decompose = decompose_skip<true>,
                                                             .samples = {"f32[2,3,8], f32[2,3,8], f32[8], f32[8]"}};
TVC_DEFINE_OP(kSimplifiedLayerNormalization) = {.name = "SimplifiedLayerNormalization",
                                                .infer = infer_same_as_input,
                                                .decompose = decompose_simplified,
                                                .samples = {"f32[2,3,8], f32[8]"}};
TVC_DEFINE_OP(kMicrosoftFusedMatMul) = {
    .name = "com.microsoft.FusedMatMul",
    .infer = infer_fused_matmul,
    .decompose = decompose_fused_matmul,
    .tolerance = {.relative = 1e-4, .absolute = 1e-5},
    .samples = {"f32[2,3,5], f32[7,5] | transB=1 alpha=0.5", "f32[5,3], f32[5,2] | transA=1"}};

}  // namespace tvc::ops

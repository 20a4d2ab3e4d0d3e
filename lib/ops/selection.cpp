// SPDX-License-Identifier: Apache-2.0
// Operators whose result's size or place depends on data: NonZero, Compress, TopK, ScatterElements, ScatterND.
#include <algorithm>
#include <array>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

RoutineCall call(std::string name, std::string file, std::vector<int64_t> ints) {
  return {"tvrt_op_" + std::move(name), std::move(file), std::move(ints), {}, {}};
}

Result<void> infer_non_zero(InferContext& c) {
  c.set(0, DType::kI64, {c.rank(0), c.fresh(0, 1)});
  return {};
}

Result<RoutineCall> routine_non_zero(const NodeView&) { return call("NonZero", "NonZero.c", {}); }

Result<void> infer_compress(InferContext& c) {
  if (!c.node().has("axis")) {
    c.set(0, c.dtype(0), {c.fresh(0, 0)});
    return {};
  }
  TVC_TRY(int axis, c.axis(c.i("axis", 0), c.rank(0)));
  Shape out = c.shape(0);
  out[static_cast<size_t>(axis)] = c.fresh(0, axis);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Result<RoutineCall> routine_compress(const NodeView& v) {
  int64_t axis = -1;
  if (v.node().has("axis")) {
    TVC_TRY(axis, v.axis(v.i("axis", 0), v.rank(0)));
  }
  return call("Compress", "NonZero.c", {axis});
}

Result<void> infer_top_k(InferContext& c) {
  TVC_TRY(int axis, c.axis(c.i("axis", -1), c.rank(0)));
  auto k = c.elements(1);
  if (!k || k->size() != 1) return bad_input("K is not one number");
  if ((*k)[0].is_constant() && (*k)[0].constant() < 0) return bad_input("K is {}", (*k)[0].text());
  Shape out = c.shape(0);
  out[static_cast<size_t>(axis)] = (*k)[0];
  c.set(0, c.dtype(0), out);
  c.set(1, DType::kI64, out);
  return {};
}

Result<RoutineCall> routine_top_k(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", -1), v.rank(0)));
  return call("TopK", "TopK.c", {axis, v.i("largest", 1), v.i("sorted", 1)});
}

Result<int64_t> reduction_of(const NodeView& v) {
  static constexpr std::array<std::string_view, 5> kNames = {"none", "add", "mul", "min", "max"};
  const std::string name = v.s("reduction", "none");
  auto at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end()) return bad_input("reduction {} is not known", name);
  return at - kNames.begin();
}

Result<RoutineCall> routine_scatter_elements(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  TVC_TRY(int64_t reduction, reduction_of(v));
  if (v.rank(1) != v.rank(0) || v.rank(2) != v.rank(1))
    return bad_input("indices and updates must have the data's rank");
  return call("ScatterElements", "Scatter.c", {axis, reduction});
}

Result<RoutineCall> routine_scatter_nd(const NodeView& v) {
  TVC_TRY(int64_t reduction, reduction_of(v));
  if (v.rank(1) < 1) return bad_input("the indices have rank 0");
  return call("ScatterND", "Scatter.c", {reduction});
}

// Random numbers: of a shape attribute, or like a tensor.
Result<void> infer_random(InferContext& c) {
  const bool like = c.input_count() > 0;
  Shape shape;
  if (like) shape = c.shape(0);
  else
    for (int64_t d : c.ints("shape")) shape.emplace_back(d);
  c.set(0, static_cast<DType>(c.i("dtype", like ? static_cast<int64_t>(c.dtype(0)) : 1)), std::move(shape));
  return {};
}

Result<RoutineCall> random_call(const NodeView& v, std::string name, double first, double second) {
  auto seed = static_cast<int64_t>(__builtin_bit_cast(uint32_t, static_cast<float>(v.f("seed", 0))));
  RoutineCall out =
      call(std::move(name), "Random.c", {static_cast<int64_t>(v.out_type(0).dtype), v.node().has("seed"), seed});
  out.floats = {first, second};
  return out;
}

Result<RoutineCall> routine_normal(const NodeView& v) {
  return random_call(v, "RandomNormal", v.f("mean", 0), v.f("scale", 1));
}
Result<RoutineCall> routine_uniform(const NodeView& v) {
  return random_call(v, "RandomUniform", v.f("low", 0), v.f("high", 1));
}
Result<RoutineCall> routine_bernoulli(const NodeView& v) { return random_call(v, "Bernoulli", 0, 0); }

// A shape attribute as an operand, for the routine's sake.
template <bool normal>
Result<std::vector<ir::ValueId>> decompose_shaped(DecomposeContext& c) {
  auto attrs = c.node().attrs;
  attrs.erase("shape");
  attrs.emplace("dtype", int64_t{1});
  TVC_TRY(auto like, c.add("ConstantOfShape", {c.ints(c.node().ints("shape"))}));
  TVC_TRY(auto y, c.add(normal ? "RandomNormalLike" : "RandomUniformLike", {like}, std::move(attrs)));
  return std::vector<ir::ValueId>{y};
}

Result<void> infer_multinomial(InferContext& c) {
  if (c.rank(0) != 2) return bad_input("the input has rank {}", c.rank(0));
  c.set(0, static_cast<DType>(c.i("dtype", 6)), {c.shape(0)[0], c.i("sample_size", 1)});
  return {};
}

Result<RoutineCall> routine_multinomial(const NodeView& v) {
  TVC_TRY(auto out, random_call(v, "Multinomial", 0, 0));
  out.ints.push_back(v.i("sample_size", 1));
  return out;
}

}  // namespace

TVC_DEFINE_OP(kNonZero) = {.name = "NonZero", .infer = infer_non_zero, .routine = routine_non_zero};
TVC_DEFINE_OP(kCompress) = {.name = "Compress", .infer = infer_compress, .routine = routine_compress};
TVC_DEFINE_OP(kTopK) = {.name = "TopK", .infer = infer_top_k, .routine = routine_top_k};
TVC_DEFINE_OP(kScatterElements) = {
    .name = "ScatterElements", .infer = infer_same_as_input, .routine = routine_scatter_elements};
TVC_DEFINE_OP(kScatterND) = {.name = "ScatterND", .infer = infer_same_as_input, .routine = routine_scatter_nd};
TVC_DEFINE_OP(kRandomNormalLike) = {
    .name = "RandomNormalLike", .infer = infer_random, .routine = routine_normal, .random = true};
TVC_DEFINE_OP(kRandomUniformLike) = {
    .name = "RandomUniformLike", .infer = infer_random, .routine = routine_uniform, .random = true};
TVC_DEFINE_OP(kRandomNormal) = {
    .name = "RandomNormal", .infer = infer_random, .decompose = decompose_shaped<true>, .random = true};
TVC_DEFINE_OP(kRandomUniform) = {
    .name = "RandomUniform", .infer = infer_random, .decompose = decompose_shaped<false>, .random = true};
TVC_DEFINE_OP(kBernoulli) = {.name = "Bernoulli", .infer = infer_random, .routine = routine_bernoulli, .random = true};
TVC_DEFINE_OP(kMultinomial) = {
    .name = "Multinomial", .infer = infer_multinomial, .routine = routine_multinomial, .random = true};

}  // namespace tvc::ops

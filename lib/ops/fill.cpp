// SPDX-License-Identifier: Apache-2.0
// Tensors from sizes and numbers: ConstantOfShape, Range, EyeLike, Trilu.
#include <array>

#include "ops/op_def.h"

namespace tvc::ops {
namespace {

using te::Expr;
using Expressions = Result<std::vector<te::TensorExpr>>;

const ir::Tensor* fill_value(const NodeView& v) {
  auto it = v.node().attrs.find("value");
  if (it == v.node().attrs.end()) return nullptr;
  const auto* tensor = std::get_if<std::shared_ptr<const ir::Tensor>>(&it->second);
  return tensor == nullptr ? nullptr : tensor->get();
}

Expr scalar_of(const ir::Tensor& tensor) {
  DType compute = ir::compute_type(tensor.dtype);
  return ir::is_float(compute) ? te::number(compute, ir::to_f64(tensor)[0])
                               : te::integer(compute, ir::to_i64(tensor)[0]);
}

Result<void> infer_constant_of_shape(InferContext& c) {
  auto sizes = c.elements(0);
  if (!sizes && !(c.rank(0) == 1 && c.shape(0)[0].is(0)))
    return unsupported("the shape's number of elements is not known at compile time");
  for (const Dim& d : sizes.value_or(std::vector<Dim>()))
    if (d.is_constant() && d.constant() < 0) return bad_input("the shape holds {}", d.text());
  const ir::Tensor* value = fill_value(c);
  if (value != nullptr && value->count() != 1) return bad_input("value has {} elements", value->count());
  c.set(0, value == nullptr ? DType::kF32 : value->dtype, sizes.value_or(std::vector<Dim>()));
  return {};
}

Expressions express_constant_of_shape(const NodeView& v) {
  const ir::Tensor* value = fill_value(v);
  return std::vector<te::TensorExpr>{{v.out_type(0).dtype, axes_of(v.out_type(0).shape),
                                      value == nullptr ? te::number(DType::kF32, 0) : scalar_of(*value)}};
}

Expr operand_scalar(const NodeView& v, size_t k) {
  return te::read(static_cast<int>(k), v.dtype(k), std::vector<Expr>(static_cast<size_t>(v.rank(k)), te::index(0)));
}

bool is_single(const std::optional<std::vector<Dim>>& list) { return list && list->size() == 1; }

bool has_constant_bounds(const NodeView& v) {
  return v.constant(0) != nullptr && v.constant(1) != nullptr && v.constant(2) != nullptr;
}

// Whether the number of elements is known as a size; else a decomposition computes it.
bool counts_as_size(const NodeView& v) {
  if (ir::is_float(v.dtype(0)) && has_constant_bounds(v)) return true;
  return is_single(v.elements(0)) && is_single(v.elements(1)) && is_single(v.elements(2));
}

// max(ceil((limit - start) / delta), 0) elements.
Result<void> infer_range(InferContext& c) {
  Dim count = c.fresh(0, 0);
  auto start = c.elements(0), limit = c.elements(1), delta = c.elements(2);
  for (size_t k = 0; k < 3; ++k)
    if (!c.has_input(k) || c.rank(k) > 1 || (c.rank(k) == 1 && !c.shape(k)[0].is(1)))
      return bad_input("operand {} is no single number", k);
  if (ir::is_float(c.dtype(0)) && has_constant_bounds(c)) {
    double from = ir::to_f64(*c.constant(0))[0], to = ir::to_f64(*c.constant(1))[0], by = ir::to_f64(*c.constant(2))[0];
    if (by == 0) return bad_input("the step is 0");
    double n = __builtin_ceil((to - from) / by);
    if (!(n < 1e12)) return bad_input("the range is endless");
    count = n > 0 ? static_cast<int64_t>(n) : 0;
  } else if (counts_as_size(c)) {
    const Dim from = (*start)[0], to = (*limit)[0], by = (*delta)[0];
    if (by.is(0)) return bad_input("the step is 0");
    const Dim up = ir::max(ir::ceil_div(to - from, ir::max(by, 1)), 0),
              down = ir::max(ir::ceil_div(from - to, ir::max(Dim(0) - by, 1)), 0);
    count = ir::if_lt(0, by, up, ir::if_lt(by, 0, down, 0));
  }
  c.set(0, c.dtype(0), {count});
  return {};
}

Expressions express_range(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  Expr start = operand_scalar(v, 0), delta = operand_scalar(v, 2);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, start + te::cast(start->dtype, te::var(axes[0].var)) * delta}};
}

// start + delta * i over the integers i below the number of elements.
Result<std::vector<ir::ValueId>> decompose_range(DecomposeContext& c) {
  if (counts_as_size(c)) return std::vector<ir::ValueId>{};
  const DType wide = ir::is_float(c.dtype(0)) ? ir::compute_type(c.dtype(0)) : DType::kF64;
  std::array<ir::ValueId, 3> bounds{};
  for (size_t k = 0; k < 3; ++k) {
    TVC_TRY(auto scalar, c.add("Reshape", {c.in(k), c.ints({})}));
    TVC_TRY(bounds[k], c.add("Cast", {scalar}, {{"to", static_cast<int64_t>(wide)}}));
  }
  TVC_TRY(auto length, c.add("Sub", {bounds[1], bounds[0]}));
  TVC_TRY(auto steps, c.add("Div", {length, bounds[2]}));
  TVC_TRY(auto up, c.add("Ceil", {steps}));
  TVC_TRY(auto whole, c.add("Cast", {up}, {{"to", static_cast<int64_t>(DType::kI64)}}));
  TVC_TRY(auto count, c.add("Max", {whole, c.scalar(DType::kI64, 0)}));
  TVC_TRY(auto places, c.add("Range", {c.scalar(DType::kI64, 0), count, c.scalar(DType::kI64, 1)}));
  TVC_TRY(auto numbers, c.add("Cast", {places}, {{"to", static_cast<int64_t>(wide)}}));
  TVC_TRY(auto offsets, c.add("Mul", {numbers, bounds[2]}));
  TVC_TRY(auto values, c.add("Add", {offsets, bounds[0]}));
  TVC_TRY(auto y, c.add("Cast", {values}, {{"to", static_cast<int64_t>(c.dtype(0))}}));
  return std::vector<ir::ValueId>{y};
}

Result<void> infer_eye(InferContext& c) {
  if (c.rank(0) != 2) return bad_input("the input has rank {}", c.rank(0));
  int64_t dtype = c.i("dtype", static_cast<int64_t>(c.dtype(0)));
  c.set(0, static_cast<DType>(dtype), c.shape(0));
  return {};
}

Expressions express_eye(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  Expr on = te::eq(te::var(axes[1].var), te::var(axes[0].var) + te::index(v.i("k", 0)));
  return std::vector<te::TensorExpr>{{v.out_type(0).dtype, axes, te::cast(v.out_type(0).dtype, on)}};
}

Expressions express_trilu(const NodeView& v) {
  if (v.rank(0) < 2) return bad_input("the input has rank {}", v.rank(0));
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<Expr> at;
  for (const auto& axis : axes) at.push_back(te::var(axis.var));
  Expr diagonal = v.has_input(1) ? te::cast(DType::kI64, operand_scalar(v, 1)) : te::index(0);
  Expr column = at.back(), row = at[at.size() - 2] + diagonal;
  Expr keep = v.i("upper", 1) != 0 ? te::ge(column, row) : te::le(column, row);
  Expr x = te::read(0, v.dtype(0), at),
       zero = ir::is_float(x->dtype) ? te::number(x->dtype, 0) : te::integer(x->dtype, 0);
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::select(keep, x, zero)}};
}

}  // namespace

TVC_DEFINE_OP(kConstantOfShape) = {
    .name = "ConstantOfShape", .infer = infer_constant_of_shape, .express = express_constant_of_shape};
TVC_DEFINE_OP(kRange) = {.name = "Range",
                         .infer = infer_range,
                         .express = express_range,
                         .decompose = decompose_range,
                         .samples = {"f32[]{1}, f32[]{9}, f32[]{2.5}", "i32[]{9}, i32[]{-3}, i32[]{-5}"}};
TVC_DEFINE_OP(kEyeLike) = {.name = "EyeLike", .infer = infer_eye, .express = express_eye, .samples = {"f32[3,4]"}};
TVC_DEFINE_OP(kTrilu) = {
    .name = "Trilu", .infer = infer_same_as_input, .express = express_trilu, .samples = {"f32[2,3,4]"}};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Operators on shapes, and those that only give a tensor another shape.
#include <algorithm>

#include "ops/axes.h"
#include "ops/elements.h"

namespace tvc::ops {
namespace {

using Expressions = Result<std::vector<te::TensorExpr>>;

// Clamps a slice bound of a shape list: Shape(start, end).
int64_t clamped(int64_t value, int64_t rank) { return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank); }

Result<void> infer_shape(InferContext& c) {
  const int64_t rank = c.rank(0), start = clamped(c.i("start", 0), rank), end = clamped(c.i("end", rank), rank);
  std::vector<Dim> dims;
  for (int64_t k = start; k < end; ++k) dims.push_back(c.shape(0)[static_cast<size_t>(k)]);
  c.set(0, DType::kI64, {static_cast<int64_t>(dims.size())});
  if (!dims.empty()) c.set_known(0, std::move(dims));
  return {};
}

Expressions express_shape(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  const int64_t rank = v.rank(0), start = clamped(v.i("start", 0), rank), end = clamped(v.i("end", rank), rank);
  te::Expr value = te::index(0);
  for (int64_t k = start; k < end; ++k)
    value = te::select(te::eq(te::var(axes[0].var), te::index(k - start)), te::dim(v.shape(0)[static_cast<size_t>(k)]),
                       value);
  return std::vector<te::TensorExpr>{{DType::kI64, axes, value}};
}

Result<void> infer_size(InferContext& c) {
  c.set(0, DType::kI64, {});
  c.set_known(0, {ir::product(c.shape(0))});
  return {};
}

Expressions express_size(const NodeView& v) {
  return std::vector<te::TensorExpr>{{DType::kI64, {}, te::dim(ir::product(v.shape(0)))}};
}

bool may_be_special(const Dim& d) {  // an element that only the run knows may be 0 or -1
  std::set<std::string> names;
  ir::collect_symbols(d, names);
  return std::any_of(names.begin(), names.end(), [](const auto& n) {
    return n.size() > 1 && n[0] == 'e' && std::isdigit(static_cast<unsigned char>(n[1]));
  });
}

// -1 takes what the others leave; 0 copies the input's dimension unless allowzero.
Result<void> infer_reshape(InferContext& c) {
  auto elements = c.elements(1);
  if (!elements) return unsupported("the shape's number of elements is not known at compile time");
  const bool allow_zero = c.i("allowzero", 0) != 0;
  const bool special = std::any_of(elements->begin(), elements->end(), may_be_special);
  Dim total = ir::product(c.shape(0));
  if (special) total = c.define(0, 0, total);
  Shape out;
  Dim others = 1;
  int inferred = -1;
  for (size_t k = 0; k < elements->size(); ++k) {
    Dim d = (*elements)[k];
    if (d.is(-1)) {
      if (inferred >= 0) return bad_input("the shape holds -1 twice");
      inferred = static_cast<int>(k);
      out.push_back(d);
      continue;
    }
    if (auto n = d.as_constant(); n && *n < 0) return bad_input("the shape holds {}", *n);
    if (!allow_zero) {
      const bool copies = k < c.shape(0).size();
      if (d.is(0) && !copies) return bad_input("the shape copies dimension {}, the input has {}", k, c.rank(0));
      if (d.is(0)) d = c.shape(0)[k];
      else if (may_be_special(d) && copies) d = ir::if_eq(d, 0, c.shape(0)[k], d);
    }
    if (may_be_special(d)) others = others * ir::if_eq((*elements)[k], -1, 1, d);
    else others = others * d;
    out.push_back(d);
  }
  if (special) others = c.define(0, 1, others);
  for (size_t k = 0; k < out.size(); ++k) {
    if (static_cast<int>(k) == inferred) out[k] = others.is(0) ? Dim(0) : ir::floor_div(total, others);
    else if (inferred < 0 && may_be_special(out[k]))
      out[k] = ir::if_eq((*elements)[k], -1, ir::floor_div(total, ir::max(others, 1)), out[k]);
  }
  if (auto a = total.as_constant(), b = ir::product(out).as_constant(); a && b && *a != *b)
    return bad_input("{} elements cannot take a shape of {}", *a, *b);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Result<void> infer_flatten(InferContext& c) {
  const int64_t rank = c.rank(0);
  int64_t axis = c.i("axis", 1);
  if (axis < -rank || axis > rank) return bad_input("axis {} is outside of rank {}", axis, rank);
  if (axis < 0) axis += rank;
  const Shape& x = c.shape(0);
  c.set(0, c.dtype(0), {ir::product({x.begin(), x.begin() + axis}), ir::product({x.begin() + axis, x.end()})});
  return {};
}

Result<void> infer_squeeze(InferContext& c) {
  std::vector<bool> gone(static_cast<size_t>(c.rank(0)));
  if (c.has_input(1)) {
    auto axes = c.constant_ints(1);
    if (!axes) {  // the run says which; their number is known
      TVC_TRY(auto set, axis_set(c, 1, c.rank(0)));
      c.set(0, c.dtype(0), shape_without(c.shape(0), set, static_cast<int64_t>(c.elements(1)->size())));
      return {};
    }
    for (int64_t axis : *axes) {
      TVC_TRY(int k, c.axis(axis, c.rank(0)));
      const Dim& d = c.shape(0)[static_cast<size_t>(k)];
      if (d.is_constant() && !d.is(1)) return bad_input("axis {} has size {}, not 1", k, d.text());
      gone[static_cast<size_t>(k)] = true;
    }
  } else {
    for (size_t k = 0; k < gone.size(); ++k) gone[k] = c.shape(0)[k].is(1);
  }
  Shape out;
  for (size_t k = 0; k < gone.size(); ++k)
    if (!gone[k]) out.push_back(c.shape(0)[k]);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Result<void> infer_unsqueeze(InferContext& c) {
  auto axes = c.constant_ints(1);
  if (!axes) {
    auto elements = c.elements(1);
    if (!elements) return unsupported("the number of axes is not known at compile time");
    TVC_TRY(auto set, axis_set(c, *elements, c.rank(0) + static_cast<int>(elements->size())));
    c.set(0, c.dtype(0), shape_with(c.shape(0), set));
    return {};
  }
  const int rank = c.rank(0) + static_cast<int>(axes->size());
  std::vector<bool> fresh(static_cast<size_t>(rank));
  for (int64_t axis : *axes) {
    TVC_TRY(int k, c.axis(axis, rank));
    if (fresh[static_cast<size_t>(k)]) return bad_input("axis {} is given twice", k);
    fresh[static_cast<size_t>(k)] = true;
  }
  Shape out;
  size_t next = 0;
  for (bool one : fresh) out.push_back(one ? Dim(1) : c.shape(0)[next++]);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Result<void> infer_expand(InferContext& c) {
  auto elements = c.elements(1);
  if (!elements) return unsupported("the shape's number of elements is not known at compile time");
  TVC_TRY(auto shape, broadcast_shapes({c.shape(0), Shape(elements->begin(), elements->end())}));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Expressions express_expand(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  return std::vector<te::TensorExpr>{
      {v.dtype(0), axes, te::read(0, v.dtype(0), broadcast_index(v.shape(0), v.out_type(0).shape, axes))}};
}

Result<void> infer_tile(InferContext& c) {
  auto repeats = c.elements(1);
  if (!repeats || static_cast<int>(repeats->size()) != c.rank(0))
    return unsupported("the repeats are not known as {} numbers", c.rank(0));
  Shape out;
  for (size_t k = 0; k < repeats->size(); ++k) out.push_back(c.shape(0)[k] * (*repeats)[k]);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Expressions express_tile(const NodeView& v) {
  auto axes = axes_of(v.out_type(0).shape);
  std::vector<te::Expr> at;
  for (size_t k = 0; k < axes.size(); ++k) {
    te::Expr i = te::var(axes[k].var);
    at.push_back(v.shape(0)[k] == axes[k].extent ? i : te::binary(te::Op::kRem, i, te::dim(v.shape(0)[k])));
  }
  return std::vector<te::TensorExpr>{{v.dtype(0), axes, te::read(0, v.dtype(0), at)}};
}

}  // namespace

TVC_DEFINE_OP(kShape) = {.name = "Shape", .infer = infer_shape, .express = express_shape, .samples = {"f32[2,3]"}};
TVC_DEFINE_OP(kSize) = {.name = "Size", .infer = infer_size, .express = express_size, .samples = {"f32[2,3]"}};
TVC_DEFINE_OP(kReshape) = {.name = "Reshape", .infer = infer_reshape, .view = true};
TVC_DEFINE_OP(kFlatten) = {.name = "Flatten", .infer = infer_flatten, .view = true, .samples = {"f32[2,3,4]"}};
TVC_DEFINE_OP(kSqueeze) = {.name = "Squeeze", .infer = infer_squeeze, .view = true, .samples = {"f32[2,1,4]"}};
TVC_DEFINE_OP(kUnsqueeze) = {.name = "Unsqueeze", .infer = infer_unsqueeze, .view = true};
TVC_DEFINE_OP(kExpand) = {.name = "Expand", .infer = infer_expand, .express = express_expand};
TVC_DEFINE_OP(kTile) = {.name = "Tile", .infer = infer_tile, .express = express_tile};

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals. Their values are made and taken apart by routines; a tensor that enters or leaves is copied,
// so that its storage may go.
#include "ops/containers.h"

namespace tvc::ops {
namespace {

using ir::Kind;

RoutineCall call(std::string name, std::vector<int64_t> ints = {}) {
  return {"tvrt_op_" + std::move(name), "Sequence.c", std::move(ints), {}, {}};
}

Dim any_size(size_t) { return Dim::symbol("_"); }

Result<void> expect_kind(const NodeView& v, size_t k, Kind kind) {
  if (!v.has_input(k) || v.type(k).kind != kind)
    return bad_input("operand {} is no {}", k, kind == Kind::kTensor ? "tensor" : "sequence");
  return {};
}

Result<void> infer_construct(InferContext& c) {
  if (!c.has_input(0)) return bad_input("it has no operand");
  ir::Type type = container_of(Kind::kSequence, c.type(0));
  for (size_t k = 1; k < c.input_count(); ++k) {
    TVC_CHECK_OK(expect_kind(c, k, Kind::kTensor));
    TVC_TRY(type, join_types(type, container_of(Kind::kSequence, c.type(k)), any_size));
  }
  c.set(0, std::move(type));
  return {};
}
Result<RoutineCall> routine_construct(const NodeView&) { return call("SequenceConstruct"); }

Result<void> infer_empty(InferContext& c) {
  ir::Type type;
  type.kind = Kind::kSequence;
  type.dtype = static_cast<DType>(c.i("dtype", 1));
  type.items = ir::Items::kNone;
  c.set(0, std::move(type));
  return {};
}
Result<RoutineCall> routine_empty(const NodeView& v) { return call("SequenceEmpty", {v.i("dtype", 1)}); }

Result<void> infer_insert(InferContext& c) {
  TVC_CHECK_OK(expect_kind(c, 0, Kind::kSequence));
  TVC_CHECK_OK(expect_kind(c, 1, Kind::kTensor));
  TVC_TRY(ir::Type type, join_types(c.type(0), container_of(Kind::kSequence, c.type(1)), any_size));
  c.set(0, std::move(type));
  return {};
}
Result<RoutineCall> routine_insert(const NodeView&) { return call("SequenceInsert"); }

Result<void> infer_erase(InferContext& c) {
  TVC_CHECK_OK(expect_kind(c, 0, Kind::kSequence));
  c.set(0, c.type(0));
  return {};
}
Result<RoutineCall> routine_erase(const NodeView&) { return call("SequenceErase"); }

Result<void> infer_at(InferContext& c) {
  TVC_CHECK_OK(expect_kind(c, 0, Kind::kSequence));
  TVC_TRY(Shape shape, item_shape(c, c.type(0), 0));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}
Result<RoutineCall> routine_at(const NodeView&) { return call("SequenceAt"); }

Result<void> infer_length(InferContext& c) {
  TVC_CHECK_OK(expect_kind(c, 0, Kind::kSequence));
  c.set(0, DType::kI64, {});
  return {};
}
Result<RoutineCall> routine_length(const NodeView&) { return call("SequenceLength"); }

Result<void> infer_split(InferContext& c) {
  TVC_CHECK_OK(expect_kind(c, 0, Kind::kTensor));
  TVC_TRY(int axis, c.axis(c.i("axis", 0), c.rank(0)));
  ir::Type item = c.type(0);
  auto at = item.shape.begin() + axis;
  if (c.has_input(1)) *at = any_size(0);
  else if (c.i("keepdims", 1) != 0) *at = 1;
  else item.shape.erase(at);
  c.set(0, container_of(Kind::kSequence, item));
  return {};
}
Result<RoutineCall> routine_split(const NodeView& v) {
  TVC_TRY(int axis, v.axis(v.i("axis", 0), v.rank(0)));
  return call("SplitToSequence", {axis, v.has_input(1) || v.i("keepdims", 1) != 0});
}

Result<void> infer_concat(InferContext& c) {
  TVC_CHECK_OK(expect_kind(c, 0, Kind::kSequence));
  TVC_TRY(Shape shape, item_shape(c, c.type(0), 0));
  const bool stack = c.i("new_axis", 0) != 0;
  TVC_TRY(int axis, c.axis(c.i("axis", 0), static_cast<int>(shape.size()) + stack));
  if (stack) shape.insert(shape.begin() + axis, Dim(0));
  for (size_t k = 0; k < shape.size(); ++k)  // the new axis has moved those behind it
    if (static_cast<int>(k) == axis || !shape[k].is_constant()) shape[k] = c.fresh(0, static_cast<int>(k));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}
Result<RoutineCall> routine_concat(const NodeView& v) {
  const bool stack = v.i("new_axis", 0) != 0;
  TVC_TRY(int axis, v.axis(v.i("axis", 0), static_cast<int>(v.type(0).shape.size()) + stack));
  return call("ConcatFromSequence", {axis, stack});
}

// The attribute is {dtype, kind} of what an empty optional could hold.
Result<void> infer_optional(InferContext& c) {
  if (c.has_input(0)) {
    c.set(0, container_of(Kind::kOptional, c.type(0)));
    return {};
  }
  auto given = c.ints("type");
  if (given.size() != 2) return bad_input("it has neither an operand nor a type");
  ir::Type type;
  type.kind = Kind::kOptional;
  type.dtype = static_cast<DType>(given[0]);
  type.items = ir::Items::kNone;
  if (static_cast<Kind>(given[1]) != Kind::kTensor) type.inner = {static_cast<Kind>(given[1])};
  c.set(0, std::move(type));
  return {};
}
Result<RoutineCall> routine_optional(const NodeView&) { return call("Optional"); }

Result<void> infer_has_element(InferContext& c) {
  c.set(0, DType::kBool, {});
  if (!c.has_input(0) || c.type(0).kind != Kind::kOptional) c.set_known(0, {Dim(c.has_input(0) ? 1 : 0)});
  return {};
}
Result<RoutineCall> routine_has_element(const NodeView&) { return call("OptionalHasElement"); }

Result<void> infer_get_element(InferContext& c) {
  if (!c.has_input(0)) return bad_input("it has no operand");
  ir::Type type = c.type(0);
  if (type.kind == Kind::kOptional) {
    ir::Type content = content_of(type);
    if (content.kind == Kind::kTensor) {
      TVC_TRY(content.shape, item_shape(c, type, 0));
    }
    type = std::move(content);
  }
  c.set(0, std::move(type));
  return {};
}
Result<RoutineCall> routine_get_element(const NodeView&) { return call("OptionalGetElement"); }

}  // namespace

TVC_DEFINE_OP(kConcatFromSequence) = {.name = "ConcatFromSequence", .infer = infer_concat, .routine = routine_concat};
TVC_DEFINE_OP(kOptional) = {.name = "Optional", .infer = infer_optional, .routine = routine_optional};
TVC_DEFINE_OP(kOptionalGetElement) = {
    .name = "OptionalGetElement", .infer = infer_get_element, .routine = routine_get_element};
TVC_DEFINE_OP(kOptionalHasElement) = {
    .name = "OptionalHasElement", .infer = infer_has_element, .routine = routine_has_element};
TVC_DEFINE_OP(kSequenceAt) = {.name = "SequenceAt", .infer = infer_at, .routine = routine_at};
TVC_DEFINE_OP(kSequenceConstruct) = {
    .name = "SequenceConstruct", .infer = infer_construct, .routine = routine_construct};
TVC_DEFINE_OP(kSequenceEmpty) = {.name = "SequenceEmpty", .infer = infer_empty, .routine = routine_empty};
TVC_DEFINE_OP(kSequenceErase) = {.name = "SequenceErase", .infer = infer_erase, .routine = routine_erase};
TVC_DEFINE_OP(kSequenceInsert) = {.name = "SequenceInsert", .infer = infer_insert, .routine = routine_insert};
TVC_DEFINE_OP(kSequenceLength) = {.name = "SequenceLength", .infer = infer_length, .routine = routine_length};
TVC_DEFINE_OP(kSplitToSequence) = {.name = "SplitToSequence", .infer = infer_split, .routine = routine_split};

}  // namespace tvc::ops

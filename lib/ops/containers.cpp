// SPDX-License-Identifier: Apache-2.0
#include "ops/containers.h"

#include "ops/elements.h"

namespace tvc::ops {
namespace {

const Dim& own_size() {
  static const Dim dim = Dim::symbol("_");
  return dim;
}

// Items of both containers.
void join_items(ir::Type& type, const ir::Type& other) {
  if (other.items == ir::Items::kNone) return;
  if (type.items == ir::Items::kNone) {
    type.items = other.items;
    type.shape = other.shape;
    return;
  }
  if (type.items == ir::Items::kAny || other.items == ir::Items::kAny || type.rank() != other.rank()) {
    type.items = ir::Items::kAny;
    type.shape.clear();
    return;
  }
  for (size_t axis = 0; axis < type.shape.size(); ++axis)
    if (type.shape[axis] != other.shape[axis]) type.shape[axis] = own_size();
}

bool holds_tensors(const ir::Type& type) { return type.inner.empty() || type.inner[0] == ir::Kind::kTensor; }

}  // namespace

ir::Type content_of(const ir::Type& container) {
  ir::Type type = container;
  if (holds_tensors(container)) {
    type.kind = ir::Kind::kTensor;
    type.inner.clear();
    type.items = ir::Items::kAny;
  } else {
    type.kind = container.inner[0];
    type.inner.erase(type.inner.begin());
  }
  return type;
}

ir::Type container_of(ir::Kind kind, const ir::Type& content) {
  ir::Type type = content;
  type.kind = kind;
  if (content.kind == ir::Kind::kTensor) {
    type.items = ir::Items::kAlike;
    for (Dim& d : type.shape)
      if (!d.is_constant()) d = own_size();
  } else {
    type.inner.insert(type.inner.begin(), content.kind);
  }
  return type;
}

Result<ir::Type> join_types(const ir::Type& a, const ir::Type& b, const std::function<Dim(size_t axis)>& size) {
  if (a.dtype != b.dtype) return unsupported("{} and {} elements meet", ir::name(a.dtype), ir::name(b.dtype));
  if (a.kind == ir::Kind::kOptional && b.kind == ir::Kind::kSequence && !holds_tensors(a))
    return join_types(a, container_of(a.kind, b), size);
  if (b.kind == ir::Kind::kOptional && a.kind == ir::Kind::kSequence && !holds_tensors(b))
    return join_types(b, a, size);
  if (a.kind != b.kind || content_of(a).kind != content_of(b).kind)
    return unsupported("tensors, sequences and optionals meet");
  ir::Type type = a;
  if (a.kind != ir::Kind::kTensor) {
    join_items(type, b);
    return type;
  }
  if (a.rank() != b.rank() && ir::product(a.shape).is(1) && ir::product(b.shape).is(1))
    return a.rank() > b.rank() ? a : b;  // one element, as a scalar or not
  if (a.rank() != b.rank()) return unsupported("tensors of rank {} and {} meet", a.rank(), b.rank());
  for (size_t axis = 0; axis < a.shape.size(); ++axis)
    if (a.shape[axis] != b.shape[axis]) type.shape[axis] = size(axis);
  return type;
}

Result<Shape> item_shape(const InferContext& c, const ir::Type& container, size_t output) {
  if (container.items != ir::Items::kAlike) return unsupported("the rank of the sequence's items is not known");
  Shape shape = container.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == own_size()) shape[axis] = c.fresh(output, static_cast<int>(axis));
  return shape;
}

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
#include "ops/axes.h"

namespace tvc::ops {

Result<AxisSet> axis_set(const NodeView& view, const std::vector<Dim>& axes, int rank) {
  AxisSet members(static_cast<size_t>(rank), Dim(0));
  for (const Dim& axis : axes) {
    if (auto constant = axis.as_constant()) {
      TVC_TRY(int k, view.axis(*constant, rank));
      members[static_cast<size_t>(k)] = 1;
      continue;
    }
    for (int k = 0; k < rank; ++k) {
      Dim& member = members[static_cast<size_t>(k)];
      member = ir::if_eq(axis, k, 1, ir::if_eq(axis, k - rank, 1, member));
    }
  }
  return members;
}

Result<AxisSet> axis_set(const NodeView& view, size_t k, int rank) {
  if (view.rank(k) == 1 && view.shape(k)[0].is(0)) return axis_set(view, std::vector<Dim>{}, rank);
  auto elements = view.elements(k);
  if (!elements) return unsupported("the number of axes is not known at compile time");
  return axis_set(view, *elements, rank);
}

std::vector<Dim> kept_before(const AxisSet& set) {
  std::vector<Dim> places;
  Dim kept = 0;
  for (const Dim& member : set) {
    places.push_back(kept);
    kept = kept + Dim(1) - member;
  }
  return places;
}

Shape shape_without(const Shape& shape, const AxisSet& set, int64_t count) {
  const auto places = kept_before(set);
  Shape out;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()) - count; ++axis) {
    Dim extent = 0;
    for (size_t k = shape.size(); k-- > 0;)
      extent = if_member(set[k], extent, ir::if_eq(places[k], axis, shape[k], extent));
    out.push_back(extent);
  }
  return out;
}

Shape shape_with(const Shape& shape, const AxisSet& set) {
  const auto places = kept_before(set);
  Shape out;
  for (size_t axis = 0; axis < set.size(); ++axis) {
    Dim extent = 0;
    for (size_t k = shape.size(); k-- > 0;) extent = ir::if_eq(places[axis], static_cast<int64_t>(k), shape[k], extent);
    out.push_back(if_member(set[axis], 1, extent));
  }
  return out;
}

}  // namespace tvc::ops

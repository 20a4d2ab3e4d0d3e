// SPDX-License-Identifier: Apache-2.0
// A list of axes given as an operand: known at compile time, or only while the program runs.
#pragma once

#include <optional>
#include <vector>

#include "ops/op_def.h"

namespace tvc::ops {

// For each axis of a rank: 1 where it is in the list, 0 where it is not; an expression over the list's elements where
// only the run knows.
using AxisSet = std::vector<Dim>;

// The axes in operand k, whose elements lie in [-rank, rank). unsupported where even their number is unknown.
Result<AxisSet> axis_set(const NodeView& view, size_t k, int rank);
// The same for elements at hand.
Result<AxisSet> axis_set(const NodeView& view, const std::vector<Dim>& axes, int rank);

// How many axes that are not in the set stand before each one.
std::vector<Dim> kept_before(const AxisSet& set);
// The shape without the `count` axes in the set.
Shape shape_without(const Shape& shape, const AxisSet& set, int64_t count);
// The shape with an axis of size 1 wherever the set has one; as long as the set.
Shape shape_with(const Shape& shape, const AxisSet& set);

// member ? x : y
inline Dim if_member(const Dim& member, const Dim& x, const Dim& y) { return ir::if_eq(member, 1, x, y); }
inline te::Expr if_member(const Dim& member, te::Expr x, te::Expr y) {
  return te::select(te::eq(te::dim(member), te::index(1)), std::move(x), std::move(y));
}

}  // namespace tvc::ops

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

}  // namespace tvc::ops

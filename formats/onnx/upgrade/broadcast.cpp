// SPDX-License-Identifier: Apache-2.0
// Before opset 7, B was aligned with A from `axis` on; now the last axes meet, so B gets axes of size 1 behind its own.
#include "formats/onnx/upgrade/upgrade.h"

namespace tvc::onnx_format {
namespace {

void unsqueeze_input(Upgrade& u, int k, int64_t first, int64_t count) {
  std::vector<int64_t> axes;
  for (int64_t a = 0; a < count; ++a) axes.push_back(first + a);
  if (!axes.empty()) u.set_input(k, u.add("Unsqueeze", {u.input(k), u.ints(axes)}));
}

}  // namespace

Result<void> upgrade_broadcast(Upgrade& u) {
  const bool broadcasts = u.i("broadcast", 0) != 0, has_axis = u.find("axis") != nullptr;
  int64_t axis = u.i("axis", 0);
  u.remove("broadcast");
  u.remove("axis");
  if (!broadcasts || !has_axis) return {};
  const int64_t rank = u.rank(0), inner = u.rank(1);
  if (rank < 0 || inner < 0) return unsupported("it broadcasts at axis {} and the ranks are not known", axis);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis + inner > rank) return bad_input("its axis is out of range");
  unsqueeze_input(u, 1, inner, rank - axis - inner);
  return {};
}

// One slope a channel: [C] becomes [C, 1, 1].
Result<void> slope_to_channels(Upgrade& u) {
  const int64_t rank = u.rank(0), slope = u.rank(1);
  if (slope > 1 || (slope >= 0 && rank >= 0 && rank <= 2)) return {};
  if (rank < 0 || slope < 0) return unsupported("the ranks of x and slope are not known");
  unsqueeze_input(u, 1, slope, rank - 2);
  return {};
}

}  // namespace tvc::onnx_format

// SPDX-License-Identifier: Apache-2.0
// Which branch of an If is taken, where that is decided before the program runs.
#pragma once

#include <optional>

#include "ops/op_def.h"

namespace tvc::ops {

struct TakenBranch {
  bool then_branch = true;
  // The branches give results of different ranks, and the condition is that a size has a certain value, as exporters
  // write for squeeze(): this value is taken for granted, and the program must check it.
  bool guarded = false;
};
std::optional<TakenBranch> taken_branch(const ir::Module& module, ir::NodeId if_node);

}  // namespace tvc::ops

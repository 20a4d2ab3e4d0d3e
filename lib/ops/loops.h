// SPDX-License-Identifier: Apache-2.0
// What is known of a Loop before it runs.
#pragma once

#include "ops/op_def.h"

namespace tvc::ops {

// Whether the first iteration always runs.
bool runs_once(const NodeView& loop);
// Carried values whose initial value nobody sees: the body does not read them, and it gives them in the first
// iteration.
std::vector<bool> overwritten(const NodeView& loop);

}  // namespace tvc::ops

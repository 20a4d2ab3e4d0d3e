// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/op_def.h"

namespace tvc::ops {

// Whether this Dropout passes its input on as it is, whatever the run brings: in inference, or at a ratio of 0.
bool drops_nothing(const NodeView& view);

}  // namespace tvc::ops

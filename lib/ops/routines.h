// SPDX-License-Identifier: Apache-2.0
// Run-time routines called by the compiler itself, through the same ABI as compiled models use.
#pragma once

#include "ops/op_def.h"

namespace tvc::ops {

// unsupported where the routine is not in the table, or an operand is no tensor of numbers.
Result<std::vector<ir::Tensor>> call_routine(const RoutineCall& call, const std::vector<const ir::Tensor*>& inputs,
                                             size_t output_count);

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// Products of matrices: MatMul (with batches, broadcast) and Gemm, f32.
#pragma once

#include "codegen/lower.h"

namespace tvc::codegen::contraction {

bool claims_gemm(const ir::Module& module, ir::NodeId node, const Target& target);
Result<void> lower_gemm(Lowering& lowering, ir::NodeId node);

}  // namespace tvc::codegen::contraction

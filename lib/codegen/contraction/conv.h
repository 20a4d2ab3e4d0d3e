// SPDX-License-Identifier: Apache-2.0
// Convolution nodes as calls of the convolution kernel.
#pragma once

#include "codegen/lower.h"

namespace tvc::codegen::contraction {

bool claims_conv(const ir::Module& module, ir::NodeId node, const Target& target);  // tvc.ConvBlocked
Result<void> lower_conv(Lowering& lowering, ir::NodeId node);
bool claims_conv_transpose(const ir::Module& module, ir::NodeId node,
                           const Target& target);  // tvc.ConvTransposeBlocked
Result<void> lower_conv_transpose(Lowering& lowering, ir::NodeId node);

// Constant f32 weights, a constant or no bias, and an epilogue (if any) that vectors express.
bool has_constant_weights(const ir::Module& module, ir::NodeId node);
bool has_vector_epilogue(const ir::Module& module, ir::NodeId node, const Target& target);

}  // namespace tvc::codegen::contraction

// SPDX-License-Identifier: Apache-2.0
// How an operator looks in the blocked layout.
#pragma once

#include "passes/layout/twins.h"

namespace tvc::passes::layout {

// Tries to build the node in the blocked layout, before itself, and moves its readers over. False: it stays planar.
using Rule = Result<bool> (*)(Twins&, ir::NodeId);
// The rule for an operator, or null.
Rule rule_of(const ir::Module& module, ir::NodeId node);

// Operators that begin a blocked region: worth a copy of their operand.
Result<bool> block_convolution(Twins& twins, ir::NodeId node);  // convolution_rules.cpp
Result<bool> block_transposed_convolution(Twins& twins, ir::NodeId node);
// Operators that follow one.
Result<bool> block_pool(Twins& twins, ir::NodeId node);
Result<bool> block_global_pool(Twins& twins, ir::NodeId node);
Result<bool> block_elementwise(Twins& twins, ir::NodeId node);  // structure_rules.cpp
Result<bool> block_concat(Twins& twins, ir::NodeId node);
Result<bool> block_split(Twins& twins, ir::NodeId node);
Result<bool> block_slice(Twins& twins, ir::NodeId node);
Result<bool> block_resize(Twins& twins, ir::NodeId node);

}  // namespace tvc::passes::layout

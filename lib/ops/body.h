// SPDX-License-Identifier: Apache-2.0
// Bodies of element-wise nodes as expressions: of tvc.Fused, and the epilogues of contractions.
//
// An epilogue is the graph attribute "epilogue" of a node whose result it continues: the body's input 0 is that result,
// its further inputs are the node's operands from attribute "epilogue_inputs" (an index) on; it has one output, of the
// result's shape.
#pragma once

#include "ops/op_def.h"

namespace tvc::ops {

// One expression for each output of the body, over `axes`; operands are numbered as the body's inputs.
Result<std::vector<te::TensorExpr>> express_body(const ir::Module& module, ir::GraphId body,
                                                 std::vector<te::Axis> axes);
// The node's own expression with its epilogue, if it has one, applied; operands are numbered as the node's inputs.
Result<te::TensorExpr> with_epilogue(const NodeView& view, te::TensorExpr result);
// Sets the types of the epilogue's values, and output 0 to its result's; for the end of a shape rule.
Result<void> infer_epilogue(InferContext& c);

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// The expression behind an epilogue (lower.h), for families that look into it.
#pragma once

#include "codegen/lower.h"

namespace tvc::codegen {

// The epilogue's body over reads of its inputs (read 0: the result). Null if the node has none.
Result<te::Expr> epilogue_body(const ir::Module& module, ir::NodeId node);

// low <= x <= high of a body that only bounds the result, as Relu and Clip do.
struct Bounds {
  double low, high;
};
std::optional<Bounds> bounds_of(const te::Expr& body);

// How operand `value` lies beside an output of this shape; nullopt: in no way that vectors reach.
std::optional<EpilogueOperand> operand_kind(const ir::Shape& output, const ir::Shape& operand);

}  // namespace tvc::codegen

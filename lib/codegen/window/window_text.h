// SPDX-License-Identifier: Apache-2.0
// Text that the window kernels share: operands of an epilogue, and the store of a vector through it.
#pragma once

#include "codegen/lower.h"

namespace tvc::codegen {

// "  const float* p0;\n" ... for the struct of arguments.
std::string operand_fields(const Epilogue& epilogue);
void add_operands(Lowering& lowering, const Epilogue& epilogue, std::vector<Arg>& args);
// Stores `value` (a tv_f32 variable) at `place` after the epilogue; reads the locals a, y (of a), block, c.
std::string store_text(const Epilogue& epilogue, const std::string& value, const std::string& place,
                       const std::string& indent);

}  // namespace tvc::codegen

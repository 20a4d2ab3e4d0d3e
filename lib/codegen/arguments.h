// SPDX-License-Identifier: Apache-2.0
// A kernel's arguments as text. NAME_args holds them as plain types, so that every unit can say it; the kernel copies
// them into the struct of a header that only its own unit includes. Arrays have types such as "int64_t[4]".
#pragma once

#include "codegen/lower.h"

namespace tvc::codegen {

// The fields of NAME_args.
std::string fields_text(const std::vector<Arg>& args);
// "  tv_gemm g = {...};" and what it takes to fill its arrays, from NAME_args* `from`.
std::string copy_text(const std::vector<Arg>& args, std::string_view type, std::string_view name,
                      std::string_view from);
// "{3, n, 1}": the value of an array.
std::string array_text(Lowering& lowering, const ir::Shape& values);

}  // namespace tvc::codegen

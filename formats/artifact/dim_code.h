// SPDX-License-Identifier: Apache-2.0
// A size as the manifest's stack code.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/dim.h"

namespace tvc {

using SymbolIndex = std::function<int(const std::string&)>;  // -1: none of the module's symbols

// nullopt where the size depends on more than these symbols.
std::optional<std::vector<int64_t>> dim_code(const ir::Dim& dim, const SymbolIndex& index_of);

}  // namespace tvc

// SPDX-License-Identifier: Apache-2.0
// The files that emitted source includes, as text carried inside the tool: "abi.h", "isa/avx2.h", "ops/TopK.c".
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tvc::codegen {

std::optional<std::string_view> embedded_file(std::string_view name);

// All names, sorted.
std::span<const std::string_view> embedded_names();

}  // namespace tvc::codegen

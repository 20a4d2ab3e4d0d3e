// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files, format versions 1 to 3: little-endian C-ordered arrays of integers, bools and floats.
#pragma once

#include <filesystem>

#include "ir/ir.h"

namespace tvc::npy {

// Types that NumPy has no name for (bfloat16, 8- and 4-bit) come as unsigned integers of their width; the caller
// reinterprets.
Result<ir::Tensor> read(const std::filesystem::path& path);
// Written to a temporary file and renamed. Types without a NumPy name are written as unsigned integers of their width.
Result<void> write(const std::filesystem::path& path, const ir::Tensor& tensor);

}  // namespace tvc::npy

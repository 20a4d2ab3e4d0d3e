// SPDX-License-Identifier: Apache-2.0
// How the rows of a contraction (output pixels, rows of A) are cut into tasks. The cut depends on sizes only, never on
// the number of threads.
#pragma once

#include "codegen/lower.h"

namespace tvc::codegen::contraction {

inline constexpr int64_t kBlock = 16;  // columns (output channels) that lie together in packed weights

struct RowChunks {
  ir::Dim chunk, chunks;
};
// parts: tasks that share a chunk (parts of the columns); most: rows that a chunk should not exceed.
RowChunks split_rows(const ir::Dim& rows, int64_t parts, const ir::Dim& most);

// Parts of `blocks` blocks of columns, each no wider than the target's registers hold.
int64_t column_parts(int64_t blocks, const Target& target);

// Numbers as the bytes of a weight.
std::vector<std::byte> bytes_of(const std::vector<float>& values);
// A constant operand as floats.
std::vector<float> floats_of(const ir::Tensor& tensor);
std::string float_text(double value);  // C, infinities too

}  // namespace tvc::codegen::contraction

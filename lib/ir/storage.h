// SPDX-License-Identifier: Apache-2.0
// Elements of packed storage: one element of any numeric type as double or int64. Sub-byte types lie low bits first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/dtype.h"

namespace tvc::ir {

double load_float(DType dtype, const std::byte* data, int64_t index);            // floating types
int64_t load_integer(DType dtype, const std::byte* data, int64_t index);         // integers and bool; u64: its bits
void store_float(DType dtype, std::byte* data, int64_t index, double value);     // rounds to nearest even
void store_integer(DType dtype, std::byte* data, int64_t index, int64_t value);  // wraps

}  // namespace tvc::ir

// SPDX-License-Identifier: Apache-2.0
// Bit patterns of the floating types: IEEE ones, bfloat16, OCP 8- and 4-bit floats, the FNUZ kinds, and the E8M0 scale.
#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace tvc::ir {

// The nearest (ties to even) value of a storage type. f16, bf16: overflow gives infinity. 8- and 4-bit floats saturate,
// infinities too but for f8e5m2, which has them; NaN stays NaN (f4e2m1 has none: 0). f8e8m0 takes the next power of two
// upwards.
double round_to(DType storage, double value);
// The bits of round_to(storage, value), for types of up to 16 bits.
uint32_t encode_float(DType storage, double value);
// The value of a bit pattern, for types of up to 16 bits.
double decode_float(DType storage, uint32_t bits);

}  // namespace tvc::ir

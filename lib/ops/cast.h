// SPDX-License-Identifier: Apache-2.0
// Conversion to floats of 8 and 4 bits as Cast and QuantizeLinear say it.
#pragma once

#include <string>

#include "ops/op_def.h"

namespace tvc::ops {

// What is to be stored as `to` for x, a float: `saturate` says whether what is out of range becomes the largest number,
// or infinity or NaN; round_mode ("up", "down", "nearest") is for f8e8m0.
te::Expr cast_small_float(const te::Expr& x, DType to, bool saturate, const std::string& round_mode = "up");

}  // namespace tvc::ops

// SPDX-License-Identifier: Apache-2.0
// What one scalar operation means; constant folding and the interpreter share it.
#pragma once

#include <cstdint>

#include "ir/float_format.h"
#include "tensorexpr/expr.h"

namespace tvc::te {

// Brings an integer into the range of a compute type (two's complement wrap); u64 keeps its bits.
int64_t wrap_integer(DType compute, int64_t value);
using ir::round_to;
// float -> integer of compute type `to`: truncates; NaN gives 0, out of range the low bits of the i64 (u64) value.
int64_t float_to_integer(DType to, double value);

double float_unary(Op op, double x);
double float_binary(Op op, double a, double b);
bool float_compare(Op op, double a, double b);
int64_t integer_unary(Op op, DType dtype, int64_t x);
// Division by zero gives 0, so that no operand value can stop the tool.
int64_t integer_binary(Op op, DType dtype, int64_t a, int64_t b);
bool integer_compare(Op op, DType dtype, int64_t a, int64_t b);

inline bool is_compare(Op op) { return op >= Op::kEq && op <= Op::kGe; }
inline bool is_unary(Op op) { return op >= Op::kNeg && op <= Op::kPopcount; }
inline bool is_binary(Op op) { return op >= Op::kAdd && op <= Op::kGe; }

}  // namespace tvc::te

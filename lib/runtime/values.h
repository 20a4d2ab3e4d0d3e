// SPDX-License-Identifier: Apache-2.0
// Sizes, checks and texts of values.
#pragma once

#include "runtime/model.h"

namespace tvrt {

int32_t element_bits(int32_t dtype);  // strings: of a tvrt_string; 0: no such type
// Bytes of a tensor with these dims; < 0: a dim is negative or the size overflows.
int64_t tensor_bytes(int32_t dtype, int32_t rank, const int64_t* dims);

// "f32[1, 3, batch]", "sequence of i64"
struct TypeText {
  char text[200];
};
TypeText describe(const ValueSpec& spec);
TypeText describe(const tvrt_value& value);

// Whether the value may be given for the input, sizes that symbols decide left open.
int32_t check_value(const ValueSpec& spec, const tvrt_value& value, Message& message);

// The value of a size's stack code; false: malformed, or it overflows, or it divides by zero.
bool evaluate(const flatbuffers::Vector<int64_t>& code, const int64_t* symbols, int32_t symbol_count, int64_t* value);

}  // namespace tvrt

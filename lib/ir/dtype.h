// SPDX-License-Identifier: Apache-2.0
// Element types; the numbers are ONNX's TensorProto.DataType, so that importer, artifact and run time need no mapping.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tvc::ir {

enum class DType : uint8_t {
  kUndefined = 0,
  kF32 = 1,
  kU8 = 2,
  kI8 = 3,
  kU16 = 4,
  kI16 = 5,
  kI32 = 6,
  kI64 = 7,
  kString = 8,
  kBool = 9,
  kF16 = 10,
  kF64 = 11,
  kU32 = 12,
  kU64 = 13,
  kC64 = 14,
  kC128 = 15,
  kBF16 = 16,
  kF8E4M3FN = 17,
  kF8E4M3FNUZ = 18,
  kF8E5M2 = 19,
  kF8E5M2FNUZ = 20,
  kU4 = 21,
  kI4 = 22,
  kF4E2M1 = 23,
  kF8E8M0 = 24,
  kU2 = 25,
  kI2 = 26,
};

int bit_width(DType dtype);  // 2, 4, 8, 16, 32, 64, 128; 0 for strings and undefined
bool is_float(DType dtype);  // any real floating type, 4 to 64 bits
bool is_signed_int(DType dtype);
bool is_unsigned_int(DType dtype);
inline bool is_int(DType dtype) { return is_signed_int(dtype) || is_unsigned_int(dtype); }
std::string_view name(DType dtype);  // "f32", "i64", "bf16", "f8e4m3fn", "u4", "bool", "str" ...
std::optional<DType> dtype_from_name(std::string_view text);
// The type in which scalar code computes: floats below 32 bits as f32, 2- and 4-bit integers as 8-bit ones.
DType compute_type(DType dtype);
// Bytes of `count` packed elements (sub-byte types round up).
inline int64_t packed_bytes(DType dtype, int64_t count) { return (count * bit_width(dtype) + 7) / 8; }

}  // namespace tvc::ir

// SPDX-License-Identifier: Apache-2.0
#include "ir/dtype.h"

#include <array>

namespace tvc::ir {
namespace {

enum class Class : uint8_t { kOther, kFloat, kSigned, kUnsigned };
struct Row {
  std::string_view name;
  int bits;
  Class kind;
};

constexpr std::array<Row, 27> kRows = {{
    {"undefined", 0, Class::kOther},  {"f32", 32, Class::kFloat},    {"u8", 8, Class::kUnsigned},
    {"i8", 8, Class::kSigned},        {"u16", 16, Class::kUnsigned}, {"i16", 16, Class::kSigned},
    {"i32", 32, Class::kSigned},      {"i64", 64, Class::kSigned},   {"str", 0, Class::kOther},
    {"bool", 8, Class::kOther},       {"f16", 16, Class::kFloat},    {"f64", 64, Class::kFloat},
    {"u32", 32, Class::kUnsigned},    {"u64", 64, Class::kUnsigned}, {"c64", 64, Class::kOther},
    {"c128", 128, Class::kOther},     {"bf16", 16, Class::kFloat},   {"f8e4m3fn", 8, Class::kFloat},
    {"f8e4m3fnuz", 8, Class::kFloat}, {"f8e5m2", 8, Class::kFloat},  {"f8e5m2fnuz", 8, Class::kFloat},
    {"u4", 4, Class::kUnsigned},      {"i4", 4, Class::kSigned},     {"f4e2m1", 4, Class::kFloat},
    {"f8e8m0", 8, Class::kFloat},     {"u2", 2, Class::kUnsigned},   {"i2", 2, Class::kSigned},
}};

const Row& row(DType dtype) {
  return kRows[static_cast<size_t>(dtype) < kRows.size() ? static_cast<size_t>(dtype) : 0];
}

}  // namespace

int bit_width(DType dtype) { return row(dtype).bits; }
bool is_float(DType dtype) { return row(dtype).kind == Class::kFloat; }
bool is_signed_int(DType dtype) { return row(dtype).kind == Class::kSigned; }
bool is_unsigned_int(DType dtype) { return row(dtype).kind == Class::kUnsigned; }
std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (size_t i = 1; i < kRows.size(); ++i)
    if (kRows[i].name == text) return static_cast<DType>(i);
  return std::nullopt;
}

DType compute_type(DType dtype) {
  if (is_float(dtype)) return dtype == DType::kF64 ? dtype : DType::kF32;
  if (bit_width(dtype) < 8 && is_signed_int(dtype)) return DType::kI8;
  if (bit_width(dtype) < 8 && is_unsigned_int(dtype)) return DType::kU8;
  return dtype;
}

}  // namespace tvc::ir

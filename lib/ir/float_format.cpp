// SPDX-License-Identifier: Apache-2.0
#include "ir/float_format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tvc::ir {
namespace {

struct FloatFormat {
  int mantissa;      // explicit bits
  int min_exponent;  // of the smallest normal number
  double largest;
  bool saturates;
  bool has_infinity;
};

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::kF16: return {10, -14, 65504.0, false, true};
    case DType::kBF16: return {7, -126, 0x1.FEp127, false, true};
    case DType::kF8E4M3FN: return {3, -6, 448.0, true, false};
    case DType::kF8E4M3FNUZ: return {3, -7, 240.0, true, false};
    case DType::kF8E5M2: return {2, -14, 57344.0, true, true};
    case DType::kF8E5M2FNUZ: return {2, -15, 57344.0, true, false};
    case DType::kF4E2M1: return {1, 0, 6.0, true, false};
    default: return {23, -126, 0x1.FFFFFEp127, false, true};
  }
}

double next_power_of_two(double value) {
  if (std::isnan(value)) return value;
  if (!(value > 0x1p-127)) return 0x1p-127;
  if (value >= 0x1p127) return 0x1p127;
  int exponent = 0;
  double fraction = std::frexp(value, &exponent);
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

}  // namespace

double round_to(DType storage, double value) {
  if (storage == DType::kF64) return value;
  if (storage == DType::kF32) return static_cast<float>(value);
  if (storage == DType::kF8E8M0) return next_power_of_two(value);
  if (std::isnan(value)) return storage == DType::kF4E2M1 ? 0.0 : value;
  FloatFormat format = format_of(storage);
  bool unsigned_zero = storage == DType::kF8E4M3FNUZ || storage == DType::kF8E5M2FNUZ;
  if (std::isinf(value)) return format.has_infinity ? value : std::copysign(format.largest, value);
  if (value == 0) return unsigned_zero ? 0.0 : value;
  int exponent = std::max(std::ilogb(value), format.min_exponent);
  double unit = std::ldexp(1.0, exponent - format.mantissa);
  double rounded = std::nearbyint(value / unit) * unit;  // value / unit is exact
  if (std::fabs(rounded) > format.largest)
    return std::copysign(format.saturates ? format.largest : std::numeric_limits<double>::infinity(), value);
  return rounded == 0 && unsigned_zero ? 0.0 : rounded;
}

uint32_t encode_float(DType storage, double value) {
  double v = round_to(storage, value);
  if (storage == DType::kF8E8M0) return std::isnan(v) ? 0xff : static_cast<uint32_t>(std::ilogb(v) + 127);
  FloatFormat format = format_of(storage);
  int width = bit_width(storage);
  uint32_t sign_bit = 1u << (width - 1), mantissa_ones = (1u << format.mantissa) - 1;
  bool fnuz = storage == DType::kF8E4M3FNUZ || storage == DType::kF8E5M2FNUZ;
  uint32_t exponent_ones = (sign_bit - 1) & ~mantissa_ones;
  if (std::isnan(v)) {
    if (fnuz) return sign_bit;
    return format.has_infinity ? exponent_ones | (1u << (format.mantissa - 1)) : sign_bit - 1;
  }
  uint32_t sign = std::signbit(v) ? sign_bit : 0;
  if (std::isinf(v)) return sign | exponent_ones;
  if (v == 0) return sign;
  int exponent = std::max(std::ilogb(v), format.min_exponent);
  auto significand = static_cast<uint32_t>(std::ldexp(std::fabs(v), format.mantissa - exponent));
  // A subnormal has exponent field 0, a normal one its implicit bit carries into field 1 and up.
  return sign | ((static_cast<uint32_t>(exponent - format.min_exponent) << format.mantissa) + significand);
}

double decode_float(DType storage, uint32_t bits) {
  if (storage == DType::kF8E8M0)
    return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, static_cast<int>(bits) - 127);
  FloatFormat format = format_of(storage);
  int width = bit_width(storage);
  uint32_t sign_bit = 1u << (width - 1), magnitude = bits & (sign_bit - 1), mantissa_ones = (1u << format.mantissa) - 1;
  bool negative = (bits & sign_bit) != 0;
  bool fnuz = storage == DType::kF8E4M3FNUZ || storage == DType::kF8E5M2FNUZ;
  if (fnuz && magnitude == 0 && negative) return std::numeric_limits<double>::quiet_NaN();
  uint32_t field = magnitude >> format.mantissa, exponent_max = (sign_bit - 1) >> format.mantissa;
  if (format.has_infinity && field == exponent_max)
    return (magnitude & mantissa_ones) != 0
               ? std::numeric_limits<double>::quiet_NaN()
               : std::copysign(std::numeric_limits<double>::infinity(), negative ? -1.0 : 1.0);
  if (storage == DType::kF8E4M3FN && magnitude == sign_bit - 1) return std::numeric_limits<double>::quiet_NaN();
  double significand = (magnitude & mantissa_ones) + (field != 0 ? mantissa_ones + 1.0 : 0.0);
  double value =
      std::ldexp(significand, format.min_exponent + static_cast<int>(std::max(field, 1u)) - 1 - format.mantissa);
  return negative ? -value : value;
}

}  // namespace tvc::ir

// SPDX-License-Identifier: Apache-2.0
#include "tensorexpr/scalar.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tvc::te {
namespace {

int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {  // the truncated reciprocal
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto e = static_cast<uint64_t>(exponent); e != 0; e >>= 1, factor *= factor)
    if (e & 1) result *= factor;
  return static_cast<int64_t>(result);
}

}  // namespace

int64_t wrap_integer(DType compute, int64_t value) {
  switch (compute) {
    case DType::kI8: return static_cast<int8_t>(value);
    case DType::kU8: return static_cast<uint8_t>(value);
    case DType::kI16: return static_cast<int16_t>(value);
    case DType::kU16: return static_cast<uint16_t>(value);
    case DType::kI32: return static_cast<int32_t>(value);
    case DType::kU32: return static_cast<uint32_t>(value);
    case DType::kBool: return value != 0;
    case DType::kI4: return static_cast<int8_t>(static_cast<uint8_t>(value) << 4) >> 4;
    case DType::kU4: return value & 15;
    case DType::kI2: return static_cast<int8_t>(static_cast<uint8_t>(value) << 6) >> 6;
    case DType::kU2: return value & 3;
    default: return value;
  }
}

int64_t float_to_integer(DType to, double value) {
  if (to == DType::kBool) return value != 0;
  if (std::isnan(value)) return 0;
  if (to == DType::kU64) {
    if (value <= -0x1p63) return INT64_MIN;
    if (value < 0) return static_cast<int64_t>(value);
    return value >= 0x1p64 ? -1 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  int64_t whole = value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : static_cast<int64_t>(value);
  return wrap_integer(to, whole);
}

double float_unary(Op op, double x) {
  switch (op) {
    case Op::kNeg: return -x;
    case Op::kAbs: return std::fabs(x);
    case Op::kSign: return std::isnan(x) ? x : x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
    case Op::kFloor: return std::floor(x);
    case Op::kCeil: return std::ceil(x);
    case Op::kRoundEven: return std::nearbyint(x);
    case Op::kTrunc: return std::trunc(x);
    case Op::kSqrt: return std::sqrt(x);
    case Op::kExp: return std::exp(x);
    case Op::kLog: return std::log(x);
    case Op::kSin: return std::sin(x);
    case Op::kCos: return std::cos(x);
    case Op::kTan: return std::tan(x);
    case Op::kAsin: return std::asin(x);
    case Op::kAcos: return std::acos(x);
    case Op::kAtan: return std::atan(x);
    case Op::kSinh: return std::sinh(x);
    case Op::kCosh: return std::cosh(x);
    case Op::kAsinh: return std::asinh(x);
    case Op::kAcosh: return std::acosh(x);
    case Op::kAtanh: return std::atanh(x);
    case Op::kTanh: return std::tanh(x);
    case Op::kErf: return std::erf(x);
    case Op::kSigmoid: return x >= 0 ? 1.0 / (1.0 + std::exp(-x)) : std::exp(x) / (1.0 + std::exp(x));
    default: return x;
  }
}

double float_binary(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kRem: return std::fmod(a, b);
    case Op::kMod: {
      double r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case Op::kPow: return std::pow(a, b);
    case Op::kAtan2: return std::atan2(a, b);
    case Op::kMin: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
    case Op::kMax: return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
    default: return 0;
  }
}

bool float_compare(Op op, double a, double b) {
  switch (op) {
    case Op::kEq: return a == b;
    case Op::kNe: return a != b;
    case Op::kLt: return a < b;
    case Op::kLe: return a <= b;
    case Op::kGt: return a > b;
    default: return a >= b;
  }
}

int64_t integer_unary(Op op, DType dtype, int64_t x) {
  bool is_signed = dtype != DType::kU64;  // narrower unsigned values are not negative anyway
  switch (op) {
    case Op::kNeg: return wrap_integer(dtype, static_cast<int64_t>(0 - static_cast<uint64_t>(x)));
    case Op::kAbs:
      return is_signed && x < 0 ? wrap_integer(dtype, static_cast<int64_t>(0 - static_cast<uint64_t>(x))) : x;
    case Op::kSign: return x == 0 ? 0 : is_signed && x < 0 ? -1 : 1;
    case Op::kNot: return x == 0;
    case Op::kBitNot: return wrap_integer(dtype, ~x);
    case Op::kPopcount: {
      uint64_t mask = ir::bit_width(dtype) >= 64 ? ~uint64_t{0} : (uint64_t{1} << ir::bit_width(dtype)) - 1;
      return std::popcount(static_cast<uint64_t>(x) & mask);
    }
    default: return x;
  }
}

namespace {

int64_t divide(Op op, DType dtype, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (dtype == DType::kU64) {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<int64_t>(op == Op::kDiv ? x / y : x % y);
  }
  if (b == -1) return op == Op::kDiv ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : 0;
  if (op == Op::kDiv) return a / b;
  int64_t r = a % b;
  return op == Op::kMod && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t shift(Op op, DType dtype, int64_t a, int64_t b) {
  int width = ir::bit_width(dtype);
  if (b < 0 || b >= width) return op == Op::kShr && ir::is_signed_int(dtype) && a < 0 ? -1 : 0;
  if (op == Op::kShl) return static_cast<int64_t>(static_cast<uint64_t>(a) << b);
  return dtype == DType::kU64 ? static_cast<int64_t>(static_cast<uint64_t>(a) >> b) : a >> b;
}

}  // namespace

int64_t integer_binary(Op op, DType dtype, int64_t a, int64_t b) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  int64_t r = 0;
  switch (op) {
    case Op::kAdd: r = static_cast<int64_t>(ua + ub); break;
    case Op::kSub: r = static_cast<int64_t>(ua - ub); break;
    case Op::kMul: r = static_cast<int64_t>(ua * ub); break;
    case Op::kDiv:
    case Op::kRem:
    case Op::kMod: r = divide(op, dtype, a, b); break;
    case Op::kPow: r = power(a, b); break;
    case Op::kMin: return integer_compare(Op::kLt, dtype, a, b) ? a : b;
    case Op::kMax: return integer_compare(Op::kLt, dtype, a, b) ? b : a;
    case Op::kAnd: return a != 0 && b != 0;
    case Op::kOr: return a != 0 || b != 0;
    case Op::kXor: return (a != 0) != (b != 0);
    case Op::kBitAnd: r = a & b; break;
    case Op::kBitOr: r = a | b; break;
    case Op::kBitXor: r = a ^ b; break;
    case Op::kShl:
    case Op::kShr: r = shift(op, dtype, a, b); break;
    default: break;
  }
  return wrap_integer(dtype, r);
}

bool integer_compare(Op op, DType dtype, int64_t a, int64_t b) {
  bool less = dtype == DType::kU64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  switch (op) {
    case Op::kEq: return a == b;
    case Op::kNe: return a != b;
    case Op::kLt: return less;
    case Op::kLe: return less || a == b;
    case Op::kGt: return !less && a != b;
    default: return !less;
  }
}

}  // namespace tvc::te

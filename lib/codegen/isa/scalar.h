/* SPDX-License-Identifier: Apache-2.0
 * Scalar operations by compute type, named tv_<operation>_<type>: the vocabulary of emitted loops. */
#ifndef TV_SCALAR_H
#define TV_SCALAR_H

#include "isa/convert.h"
#include "isa/prelude.h"
#include "isa/scalar_float.h"

/* min and max pass NaN on. */
#define TV_FLOAT(T, N, S)                                                                   \
  static inline T tv_abs_##N(T x) { return fabs##S(x); }                                    \
  static inline T tv_sign_##N(T x) { return x != x ? x : (T)((x > 0) - (x < 0)); }          \
  static inline T tv_floor_##N(T x) { return floor##S(x); }                                 \
  static inline T tv_ceil_##N(T x) { return ceil##S(x); }                                   \
  static inline T tv_rint_##N(T x) { return rint##S(x); }                                   \
  static inline T tv_trunc_##N(T x) { return trunc##S(x); }                                 \
  static inline T tv_sqrt_##N(T x) { return sqrt##S(x); }                                   \
  static inline T tv_sin_##N(T x) { return sin##S(x); }                                     \
  static inline T tv_cos_##N(T x) { return cos##S(x); }                                     \
  static inline T tv_tan_##N(T x) { return tan##S(x); }                                     \
  static inline T tv_asin_##N(T x) { return asin##S(x); }                                   \
  static inline T tv_acos_##N(T x) { return acos##S(x); }                                   \
  static inline T tv_atan_##N(T x) { return atan##S(x); }                                   \
  static inline T tv_sinh_##N(T x) { return sinh##S(x); }                                   \
  static inline T tv_cosh_##N(T x) { return cosh##S(x); }                                   \
  static inline T tv_asinh_##N(T x) { return asinh##S(x); }                                 \
  static inline T tv_acosh_##N(T x) { return acosh##S(x); }                                 \
  static inline T tv_atanh_##N(T x) { return atanh##S(x); }                                 \
  static inline uint8_t tv_isnan_##N(T x) { return x != x; }                                \
  static inline uint8_t tv_isinf_##N(T x) { return x == (T)INFINITY || x == -(T)INFINITY; } \
  static inline T tv_rem_##N(T a, T b) { return fmod##S(a, b); }                            \
  static inline T tv_mod_##N(T a, T b) {                                                    \
    T r = fmod##S(a, b);                                                                    \
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;                                        \
  }                                                                                         \
  static inline T tv_pow_##N(T a, T b) { return b == 2 ? a * a : pow##S(a, b); }            \
  static inline T tv_atan2_##N(T a, T b) { return atan2##S(a, b); }                         \
  static inline T tv_min_##N(T a, T b) { return a < b || a != a ? a : b; }                  \
  static inline T tv_max_##N(T a, T b) { return a > b || a != a ? a : b; }
TV_FLOAT(float, f32, f)
TV_FLOAT(double, f64, )

static inline double tv_exp_f64(double x) { return exp(x); }
static inline double tv_log_f64(double x) { return log(x); }
static inline double tv_tanh_f64(double x) { return tanh(x); }
static inline double tv_erf_f64(double x) { return erf(x); }
static inline double tv_sigmoid_f64(double x) { return 1.0 / (1.0 + exp(-x)); }
#define tv_fmin tv_min_f32
#define tv_fmax tv_max_f32
#define tv_fmin64 tv_min_f64
#define tv_fmax64 tv_max_f64

/* Division by zero gives 0: an operand's value can not stop the program. Shifts by the width or more give 0. */
#define TV_INT(T, U, N, BITS)                                                                                          \
  static inline T tv_div_##N(T a, T b) { return b == 0 ? 0 : (b == (T)-1 && (T)-1 < 0) ? (T)(0 - (U)a) : (T)(a / b); } \
  static inline T tv_rem_##N(T a, T b) { return b == 0 || (b == (T)-1 && (T)-1 < 0) ? 0 : (T)(a % b); }                \
  static inline T tv_mod_##N(T a, T b) {                                                                               \
    T r = tv_rem_##N(a, b);                                                                                            \
    return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r;                                                              \
  }                                                                                                                    \
  static inline T tv_abs_##N(T x) { return x < 0 ? (T)(0 - (U)x) : x; }                                                \
  static inline T tv_sign_##N(T x) { return (T)((x > 0) - (x < 0)); }                                                  \
  static inline T tv_min_##N(T a, T b) { return a < b ? a : b; }                                                       \
  static inline T tv_max_##N(T a, T b) { return a > b ? a : b; }                                                       \
  static inline T tv_shl_##N(T a, T b) { return (U)b >= BITS ? 0 : (T)((U)a << b); }                                   \
  static inline T tv_shr_##N(T a, T b) { return (U)b >= BITS ? (T)(a < 0 ? -1 : 0) : (T)(a >> b); }                    \
  static inline T tv_popcount_##N(T x) { return (T)__builtin_popcountll((uint64_t)(U)x); }                             \
  static inline T tv_pow_##N(T a, T b) {                                                                               \
    U r = 1, base = (U)a;                                                                                              \
    if (b < 0) return a == 1 ? 1 : a == (T)-1 ? ((b & 1) ? a : 1) : 0;                                                 \
    for (; b > 0; b = (T)(b >> 1), base = (U)(base * base))                                                            \
      if (b & 1) r = (U)(r * base);                                                                                    \
    return (T)r;                                                                                                       \
  }
TV_INT(int8_t, uint8_t, i8, 8)
TV_INT(int16_t, uint16_t, i16, 16)
TV_INT(int32_t, uint32_t, i32, 32)
TV_INT(int64_t, uint64_t, i64, 64)
TV_INT(uint8_t, uint8_t, u8, 8)
TV_INT(uint16_t, uint16_t, u16, 16)
TV_INT(uint32_t, uint32_t, u32, 32)
TV_INT(uint64_t, uint64_t, u64, 64)
#define tv_min_bool tv_min_u8
#define tv_max_bool tv_max_u8
#define tv_lowest_i8 INT8_MIN
#define tv_highest_i8 INT8_MAX
#define tv_lowest_i16 INT16_MIN
#define tv_highest_i16 INT16_MAX
#define tv_lowest_i32 INT32_MIN
#define tv_highest_i32 INT32_MAX
#define tv_lowest_i64 INT64_MIN
#define tv_highest_i64 INT64_MAX
#define tv_lowest_u8 0
#define tv_highest_u8 UINT8_MAX
#define tv_lowest_u16 0
#define tv_highest_u16 UINT16_MAX
#define tv_lowest_u32 0
#define tv_highest_u32 UINT32_MAX
#define tv_lowest_u64 0
#define tv_highest_u64 UINT64_MAX
#define tv_lowest_bool 0
#define tv_highest_bool 1

/* Truncation; NaN gives 0, what does not fit the 64-bit range saturates. */
static inline int64_t tv_i64_from_f64(double x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  if (x <= -9223372036854775808.0) return INT64_MIN;
  return (int64_t)x;
}
static inline uint64_t tv_u64_from_f64(double x) {
  if (x != x) return 0;
  if (x < 0) return (uint64_t)tv_i64_from_f64(x);
  return x >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)x;
}
static inline int64_t tv_i64_from_f32(float x) { return tv_i64_from_f64(x); }
static inline uint64_t tv_u64_from_f32(float x) { return tv_u64_from_f64(x); }

#endif

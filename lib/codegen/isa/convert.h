/* SPDX-License-Identifier: Apache-2.0
 * Loads and stores of storage types that are not compute types. Floats below 32 bits round to nearest even; 8- and
 * 4-bit floats saturate (ONNX Cast, saturate = 1); sub-byte types are packed low bits first. */
#ifndef TV_CONVERT_H
#define TV_CONVERT_H

#include "isa/scalar_float.h"

static inline float tv_f16_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000u) << 16, rest = h & 0x7fffu;
  float normal = tv_bits_f32((rest << 13) + 0x38000000u);
  float special = tv_bits_f32((rest << 13) | 0x7f800000u);
  float tiny = (float)rest * 5.9604644775390625e-8f;
  float magnitude = rest >= 0x7c00u ? special : rest < 0x0400u ? tiny : normal;
  return tv_bits_f32(tv_f32_bits(magnitude) | sign);
}
static inline uint16_t tv_f32_to_f16(float x) {
  uint32_t u = tv_f32_bits(x), sign = (u >> 16) & 0x8000u, a = u & 0x7fffffffu;
  uint32_t normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  /* 0.5f has the exponent at which one ulp is the smallest f16; the addition rounds to nearest even. */
  uint32_t tiny = tv_f32_bits(tv_bits_f32(a) + 0.5f) - 0x3f000000u;
  uint32_t magnitude = a < 0x38800000u ? tiny : normal;
  magnitude = a >= 0x47800000u ? 0x7c00u : magnitude > 0x7c00u ? 0x7c00u : magnitude;
  magnitude = a > 0x7f800000u ? 0x7e00u : magnitude;
  return (uint16_t)(sign | magnitude);
}
static inline float tv_bf16_to_f32(uint16_t h) { return tv_bits_f32((uint32_t)h << 16); }
static inline uint16_t tv_f32_to_bf16(float x) {
  uint32_t u = tv_f32_bits(x);
  uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : rounded);
}

/* A small float: sign, `e` exponent bits with this bias, `m` mantissa bits; value of its magnitude bits. */
static inline float tv_small_magnitude(uint32_t v, int m, int bias) {
  uint32_t exponent = v >> m, mantissa = v & ((1u << m) - 1u);
  if (exponent == 0) return ldexpf((float)mantissa, 1 - bias - m);
  return ldexpf((float)(mantissa + (1u << m)), (int)exponent - bias - m);
}
/* Nearest magnitude bits, ties to even; above `most` clamps to `most`. */
static inline uint32_t tv_small_round(float a, int m, int bias, uint32_t most) {
  if (a == 0.0f) return 0;
  if (a > 1e30f) return most;
  int e = 0;
  frexpf(a, &e);
  e -= 1;
  if (e < 1 - bias) e = 1 - bias;
  float q = rintf(ldexpf(a, m - e)); /* in units of the last place */
  uint32_t bits = (uint32_t)q + (uint32_t)((e + bias - 1) << m);
  return bits > most ? most : bits;
}

static inline float tv_f8e4m3fn_to_f32(uint8_t v) {
  float a = (v & 0x7f) == 0x7f ? NAN : tv_small_magnitude(v & 0x7f, 3, 7);
  return v & 0x80 ? -a : a;
}
static inline uint8_t tv_f32_to_f8e4m3fn(float x) {
  uint8_t sign = (uint8_t)((tv_f32_bits(x) >> 24) & 0x80u);
  return (uint8_t)(x != x ? sign | 0x7f : sign | tv_small_round(fabsf(x), 3, 7, 0x7e));
}
static inline float tv_f8e4m3fnuz_to_f32(uint8_t v) {
  if (v == 0x80) return NAN;
  float a = tv_small_magnitude(v & 0x7f, 3, 8);
  return v & 0x80 ? -a : a;
}
static inline uint8_t tv_f32_to_f8e4m3fnuz(float x) {
  if (x != x) return 0x80;
  uint32_t a = tv_small_round(fabsf(x), 3, 8, 0x7f);
  return (uint8_t)(a == 0 ? 0 : a | ((tv_f32_bits(x) >> 24) & 0x80u));
}
static inline float tv_f8e5m2_to_f32(uint8_t v) {
  uint32_t m = v & 0x7f;
  float a = m > 0x7c ? NAN : m == 0x7c ? INFINITY : tv_small_magnitude(m, 2, 15);
  return v & 0x80 ? -a : a;
}
static inline uint8_t tv_f32_to_f8e5m2(float x) {
  uint8_t sign = (uint8_t)((tv_f32_bits(x) >> 24) & 0x80u);
  if (fabsf(x) == INFINITY) return (uint8_t)(sign | 0x7c);
  return (uint8_t)(x != x ? sign | 0x7f : sign | tv_small_round(fabsf(x), 2, 15, 0x7b));
}
static inline float tv_f8e5m2fnuz_to_f32(uint8_t v) {
  if (v == 0x80) return NAN;
  float a = tv_small_magnitude(v & 0x7f, 2, 16);
  return v & 0x80 ? -a : a;
}
static inline uint8_t tv_f32_to_f8e5m2fnuz(float x) {
  if (x != x) return 0x80;
  uint32_t a = tv_small_round(fabsf(x), 2, 16, 0x7f);
  return (uint8_t)(a == 0 ? 0 : a | ((tv_f32_bits(x) >> 24) & 0x80u));
}
static inline float tv_f4e2m1_to_f32(uint8_t v) {
  float a = tv_small_magnitude(v & 7u, 1, 1);
  return v & 8 ? -a : a;
}
static inline uint8_t tv_f32_to_f4e2m1(float x) {
  if (x != x) return 0;
  return (uint8_t)(tv_small_round(fabsf(x), 1, 1, 7) | ((tv_f32_bits(x) >> 28) & 8u));
}
static inline float tv_f8e8m0_to_f32(uint8_t v) { return v == 255 ? NAN : ldexpf(1.0f, (int)v - 127); }
/* Powers of two, rounded upwards. */
static inline uint8_t tv_f32_to_f8e8m0(float x) {
  if (x != x) return 255;
  float a = fabsf(x);
  if (a <= 5.877471754111438e-39f) return 0;
  if (a > 1.7014118346046923e38f) return 254;
  int e = 0;
  float m = frexpf(a, &e);
  e = m == 0.5f ? e - 1 : e;
  return (uint8_t)(e + 127);
}

#define TV_STORAGE(N, T)                                                                   \
  static inline float tv_load_##N(const T* x, int64_t i) { return tv_##N##_to_f32(x[i]); } \
  static inline void tv_store_##N(T* y, int64_t i, float v) { y[i] = tv_f32_to_##N(v); }   \
  static inline float tv_round_##N(float v) { return tv_##N##_to_f32(tv_f32_to_##N(v)); }
TV_STORAGE(f16, uint16_t)
TV_STORAGE(bf16, uint16_t)
TV_STORAGE(f8e4m3fn, uint8_t)
TV_STORAGE(f8e4m3fnuz, uint8_t)
TV_STORAGE(f8e5m2, uint8_t)
TV_STORAGE(f8e5m2fnuz, uint8_t)
TV_STORAGE(f8e8m0, uint8_t)

static inline uint8_t tv_bits_at(const uint8_t* x, int64_t i, int bits) {
  int64_t per = 8 / bits;
  return (uint8_t)((x[i / per] >> (int)((i % per) * bits)) & ((1 << bits) - 1));
}
static inline void tv_put_bits(uint8_t* y, int64_t i, int bits, uint8_t v) {
  int64_t per = 8 / bits;
  int shift = (int)((i % per) * bits), mask = ((1 << bits) - 1) << shift;
  uint8_t old = i % per == 0 ? 0 : y[i / per];
  y[i / per] = (uint8_t)((old & ~mask) | ((v << shift) & mask));
}
static inline uint8_t tv_load_u4(const uint8_t* x, int64_t i) { return tv_bits_at(x, i, 4); }
static inline int8_t tv_load_i4(const uint8_t* x, int64_t i) { return (int8_t)((tv_bits_at(x, i, 4) ^ 8) - 8); }
static inline uint8_t tv_load_u2(const uint8_t* x, int64_t i) { return tv_bits_at(x, i, 2); }
static inline int8_t tv_load_i2(const uint8_t* x, int64_t i) { return (int8_t)((tv_bits_at(x, i, 2) ^ 2) - 2); }
static inline float tv_load_f4e2m1(const uint8_t* x, int64_t i) { return tv_f4e2m1_to_f32(tv_bits_at(x, i, 4)); }
static inline void tv_store_u4(uint8_t* y, int64_t i, uint8_t v) { tv_put_bits(y, i, 4, v); }
static inline void tv_store_i4(uint8_t* y, int64_t i, int8_t v) { tv_put_bits(y, i, 4, (uint8_t)v); }
static inline void tv_store_u2(uint8_t* y, int64_t i, uint8_t v) { tv_put_bits(y, i, 2, v); }
static inline void tv_store_i2(uint8_t* y, int64_t i, int8_t v) { tv_put_bits(y, i, 2, (uint8_t)v); }
static inline void tv_store_f4e2m1(uint8_t* y, int64_t i, float v) { tv_put_bits(y, i, 4, tv_f32_to_f4e2m1(v)); }
static inline float tv_round_f4e2m1(float v) { return tv_f4e2m1_to_f32(tv_f32_to_f4e2m1(v)); }
static inline int8_t tv_round_i4(int8_t v) { return (int8_t)(((v & 15) ^ 8) - 8); }
static inline uint8_t tv_round_u4(uint8_t v) { return (uint8_t)(v & 15); }
static inline int8_t tv_round_i2(int8_t v) { return (int8_t)(((v & 3) ^ 2) - 2); }
static inline uint8_t tv_round_u2(uint8_t v) { return (uint8_t)(v & 3); }

#endif

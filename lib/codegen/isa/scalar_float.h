/* SPDX-License-Identifier: Apache-2.0
 * f32 functions without branches, so that the C compiler vectorises loops over them. Polynomials after Cephes
 * (Moshier). Errors: exp, log, sigmoid under 2 ulp, tanh and erf under 4 ulp; infinities and NaN as libm. */
#ifndef TV_SCALAR_FLOAT_H
#define TV_SCALAR_FLOAT_H

#include "isa/prelude.h"

static inline float tv_bits_f32(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}
static inline uint32_t tv_f32_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}

/* exp(x) = 2^n exp(r), |r| <= ln(2)/2; 2^n in two steps, so that results below 2^-126 keep their bits. */
static inline float tv_exp_f32(float x) {
  float c = x < -104.0f ? -104.0f : x;
  c = c > 89.0f ? 89.0f : c;
  float n = (c * 1.44269504088896341f + 12582912.0f) - 12582912.0f;
  float r = c - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t e = (int32_t)n, half = e >> 1;
  float y = p * tv_bits_f32((uint32_t)(half + 127) << 23) * tv_bits_f32((uint32_t)(e - half + 127) << 23);
  return x != x ? x : y;
}

static inline float tv_log_f32(float x) {
  int tiny = x < 1.17549435e-38f;
  float scaled = tiny ? x * 8388608.0f : x;
  uint32_t u = tv_f32_bits(scaled);
  int32_t e = (int32_t)(u >> 23) - 126 - (tiny ? 23 : 0);
  float m = tv_bits_f32((u & 0x007fffffu) | 0x3f000000u);
  int low = m < 0.707106781186547524f;
  e = low ? e - 1 : e;
  m = (low ? m + m : m) - 1.0f;
  float z = m * m, p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * m * z + (float)e * -2.12194440e-4f - 0.5f * z;
  float r = m + y + (float)e * 0.693359375f;
  r = x == 0.0f ? -INFINITY : r;
  r = x < 0.0f ? NAN : r;
  r = x == INFINITY ? x : r;
  return x != x ? x : r;
}

static inline float tv_sigmoid_f32(float x) { return 1.0f / (1.0f + tv_exp_f32(-x)); }

static inline float tv_tanh_f32(float x) {
  float a = fabsf(x), z = x * x, p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  float small = p * z * x + x;
  float large = copysignf(1.0f - 2.0f / (tv_exp_f32(a + a) + 1.0f), x);
  return a < 0.625f ? small : (x != x ? x : large);
}

static inline float tv_erf_f32(float x) {
  float a = fabsf(x), z = x * x, t = 7.853861353153693e-5f;
  t = t * z - 8.010193625184903e-4f;
  t = t * z + 5.188327685732524e-3f;
  t = t * z - 2.685381193529856e-2f;
  t = t * z + 1.128358514861418e-1f;
  t = t * z - 3.761262582423300e-1f;
  t = t * z + 1.128379165726710e+0f;
  float inner = t * x;
  float q = 1.0f / (a < 1.0f ? 1.0f : a), y = q * q;
  float p = 2.326819970068386e-2f;
  p = p * y - 1.387039388740657e-1f;
  p = p * y + 3.687424674597105e-1f;
  p = p * y - 5.824733027278666e-1f;
  p = p * y + 6.210004621745983e-1f;
  p = p * y - 4.944515323274145e-1f;
  p = p * y + 3.404879937665872e-1f;
  p = p * y - 2.741127028184656e-1f;
  p = p * y + 5.638259427386472e-1f;
  float r = -1.047766399936249e+1f;
  r = r * y + 1.297719955372516e+1f;
  r = r * y - 7.495518717768503e+0f;
  r = r * y + 2.921019019210786e+0f;
  r = r * y - 1.015265279202700e+0f;
  r = r * y + 4.218463358204948e-1f;
  r = r * y - 2.820767439740514e-1f;
  r = r * y + 5.641895067754075e-1f;
  float outer = copysignf(1.0f - tv_exp_f32(-z) * q * (a < 2.0f ? p : r), x);
  outer = a > 4.0f ? copysignf(1.0f, x) : outer;
  return x != x ? x : (a < 1.0f ? inner : outer);
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Vector functions over tv_f32, after an ISA header. The algorithms of isa/scalar_float.h, after Cephes (Moshier):
 * exp, log, sigmoid under 2 ulp, tanh and erf under 4 ulp; infinities and NaN as libm. */
#ifndef TVC_ISA_MATH_H
#define TVC_ISA_MATH_H

#include <math.h>

/* min and max that pass NaN on. */
TV_INLINE tv_f32 tv_min_nan(tv_f32 a, tv_f32 b) { return tv_select(tv_isnan(a), a, tv_min(a, b)); }
TV_INLINE tv_f32 tv_max_nan(tv_f32 a, tv_f32 b) { return tv_select(tv_isnan(a), a, tv_max(a, b)); }

/* 2^e for -127 < e < 128. */
TV_INLINE tv_f32 tv_exp2_i32(tv_i32 e) { return tv_as_f32(tv_shl_i32(tv_add_i32(e, tv_set1_i32(127)), 23)); }

/* exp(x) = 2^n exp(r), |r| <= ln(2)/2: exp(r), and n as a whole number. */
TV_INLINE tv_f32 tv_exp_reduced(tv_f32 x, tv_i32* n) {
  const tv_f32 whole = tv_round(tv_mul(x, tv_set1(1.44269504088896341f)));
  tv_f32 r = tv_fnma(whole, tv_set1(0.693359375f), x);
  r = tv_fnma(whole, tv_set1(-2.12194440e-4f), r);
  tv_f32 p = tv_set1(1.9875691500e-4f);
  p = tv_fma(p, r, tv_set1(1.3981999507e-3f));
  p = tv_fma(p, r, tv_set1(8.3334519073e-3f));
  p = tv_fma(p, r, tv_set1(4.1665795894e-2f));
  p = tv_fma(p, r, tv_set1(1.6666665459e-1f));
  p = tv_fma(p, r, tv_set1(5.0000001201e-1f));
  *n = tv_round_i32(whole);
  return tv_add(tv_fma(tv_mul(p, r), r, r), tv_set1(1.0f));
}

/* 2^n in two steps, so that results below 2^-126 keep their bits. */
TV_INLINE tv_f32 tv_exp(tv_f32 x) {
  tv_i32 n;
  const tv_f32 c = tv_min(tv_set1(89.0f), tv_max(tv_set1(-104.0f), x)); /* NaN stays */
  const tv_f32 p = tv_exp_reduced(c, &n);
  const tv_i32 half = tv_shr_i32(n, 1);
  return tv_mul(tv_mul(p, tv_exp2_i32(half)), tv_exp2_i32(tv_sub_i32(n, half)));
}

/* exp for arguments between -87 and 88 (others count as these), where one step is enough. */
TV_INLINE tv_f32 tv_exp_normal(tv_f32 x) {
  tv_i32 n;
  const tv_f32 p = tv_exp_reduced(tv_min(tv_set1(88.0f), tv_max(tv_set1(-87.0f), x)), &n);
  return tv_mul(p, tv_exp2_i32(n));
}

TV_INLINE tv_f32 tv_sigmoid(tv_f32 x) {
  const tv_f32 one = tv_set1(1.0f);
  return tv_div(one, tv_add(one, tv_exp_normal(tv_neg(x))));
}

TV_INLINE tv_f32 tv_log(tv_f32 x) {
  const tv_f32 one = tv_set1(1.0f);
  const tv_mask tiny = tv_lt(x, tv_set1(1.17549435e-38f));
  const tv_i32 bits = tv_as_i32(tv_select(tiny, tv_mul(x, tv_set1(8388608.0f)), x));
  tv_f32 e = tv_sub(tv_from_i32(tv_sub_i32(tv_shr_u32(bits, 23), tv_set1_i32(126))),
                    tv_select(tiny, tv_set1(23.0f), tv_zero()));
  tv_f32 m = tv_as_f32(tv_or_i32(tv_and_i32(bits, tv_set1_i32(0x007fffff)), tv_set1_i32(0x3f000000)));
  const tv_mask low = tv_lt(m, tv_set1(0.707106781186547524f));
  e = tv_select(low, tv_sub(e, one), e);
  m = tv_sub(tv_select(low, tv_add(m, m), m), one);
  const tv_f32 z = tv_mul(m, m);
  tv_f32 p = tv_set1(7.0376836292e-2f);
  p = tv_fma(p, m, tv_set1(-1.1514610310e-1f));
  p = tv_fma(p, m, tv_set1(1.1676998740e-1f));
  p = tv_fma(p, m, tv_set1(-1.2420140846e-1f));
  p = tv_fma(p, m, tv_set1(1.4249322787e-1f));
  p = tv_fma(p, m, tv_set1(-1.6668057665e-1f));
  p = tv_fma(p, m, tv_set1(2.0000714765e-1f));
  p = tv_fma(p, m, tv_set1(-2.4999993993e-1f));
  p = tv_fma(p, m, tv_set1(3.3333331174e-1f));
  tv_f32 y = tv_mul(tv_mul(p, m), z);
  y = tv_fma(e, tv_set1(-2.12194440e-4f), y);
  y = tv_fnma(tv_set1(0.5f), z, y);
  tv_f32 r = tv_fma(e, tv_set1(0.693359375f), tv_add(m, y));
  r = tv_select(tv_eq(x, tv_zero()), tv_set1(-INFINITY), r);
  r = tv_select(tv_lt(x, tv_zero()), tv_set1(NAN), r);
  r = tv_select(tv_eq(x, tv_set1(INFINITY)), x, r);
  return tv_select(tv_isnan(x), x, r);
}

TV_INLINE tv_f32 tv_tanh(tv_f32 x) {
  const tv_f32 a = tv_abs(x), z = tv_mul(x, x), one = tv_set1(1.0f);
  tv_f32 p = tv_set1(-5.70498872745e-3f);
  p = tv_fma(p, z, tv_set1(2.06390887954e-2f));
  p = tv_fma(p, z, tv_set1(-5.37397155531e-2f));
  p = tv_fma(p, z, tv_set1(1.33314422036e-1f));
  p = tv_fma(p, z, tv_set1(-3.33332819422e-1f));
  const tv_f32 small = tv_fma(tv_mul(p, z), x, x);
  const tv_f32 e = tv_exp_normal(tv_add(a, a));
  const tv_f32 large = tv_copysign(tv_sub(one, tv_div(tv_set1(2.0f), tv_add(e, one))), x);
  return tv_select(tv_lt(a, tv_set1(0.625f)), small, tv_select(tv_isnan(x), x, large));
}

TV_INLINE tv_f32 tv_erf(tv_f32 x) {
  const tv_f32 a = tv_abs(x), z = tv_mul(x, x), one = tv_set1(1.0f);
  tv_f32 t = tv_set1(7.853861353153693e-5f);
  t = tv_fma(t, z, tv_set1(-8.010193625184903e-4f));
  t = tv_fma(t, z, tv_set1(5.188327685732524e-3f));
  t = tv_fma(t, z, tv_set1(-2.685381193529856e-2f));
  t = tv_fma(t, z, tv_set1(1.128358514861418e-1f));
  t = tv_fma(t, z, tv_set1(-3.761262582423300e-1f));
  t = tv_fma(t, z, tv_set1(1.128379165726710e+0f));
  const tv_f32 inner = tv_mul(t, x);
  const tv_f32 q = tv_div(one, tv_max(one, a)), y = tv_mul(q, q);
  tv_f32 p = tv_set1(2.326819970068386e-2f);
  p = tv_fma(p, y, tv_set1(-1.387039388740657e-1f));
  p = tv_fma(p, y, tv_set1(3.687424674597105e-1f));
  p = tv_fma(p, y, tv_set1(-5.824733027278666e-1f));
  p = tv_fma(p, y, tv_set1(6.210004621745983e-1f));
  p = tv_fma(p, y, tv_set1(-4.944515323274145e-1f));
  p = tv_fma(p, y, tv_set1(3.404879937665872e-1f));
  p = tv_fma(p, y, tv_set1(-2.741127028184656e-1f));
  p = tv_fma(p, y, tv_set1(5.638259427386472e-1f));
  tv_f32 r = tv_set1(-1.047766399936249e+1f);
  r = tv_fma(r, y, tv_set1(1.297719955372516e+1f));
  r = tv_fma(r, y, tv_set1(-7.495518717768503e+0f));
  r = tv_fma(r, y, tv_set1(2.921019019210786e+0f));
  r = tv_fma(r, y, tv_set1(-1.015265279202700e+0f));
  r = tv_fma(r, y, tv_set1(4.218463358204948e-1f));
  r = tv_fma(r, y, tv_set1(-2.820767439740514e-1f));
  r = tv_fma(r, y, tv_set1(5.641895067754075e-1f));
  const tv_f32 tail = tv_mul(tv_mul(tv_exp_normal(tv_neg(z)), q), tv_select(tv_lt(a, tv_set1(2.0f)), p, r));
  tv_f32 outer = tv_copysign(tv_sub(one, tail), x);
  outer = tv_select(tv_gt(a, tv_set1(4.0f)), tv_copysign(one, x), outer);
  return tv_select(tv_isnan(x), x, tv_select(tv_lt(a, one), inner, outer));
}

#endif

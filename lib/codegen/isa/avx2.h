/* SPDX-License-Identifier: Apache-2.0
 * SIMD primitives on AVX2, FMA and F16C. Same names and meanings as isa/avx512.h; vector code is written once over
 * both.
 *
 * tv_f32, tv_i32: TV_LANES lanes; tv_mask: one truth value a lane. Loads and stores need no alignment.
 * *_n(p, n): the first n lanes only, 0 <= n <= TV_LANES (more counts as all); loads fill with zeros, and memory behind
 * the n elements is not touched. tv_min and tv_max give b when a or b is NaN, as the instructions do. */
#ifndef TVC_ISA_AVX2_H
#define TVC_ISA_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define TV_LANES 8
#define TV_INLINE static inline __attribute__((always_inline, unused))
#define TV_PREFETCH(p) _mm_prefetch((const char*)(p), _MM_HINT_T0)

typedef __m256 tv_f32;
typedef __m256i tv_i32;
typedef __m256 tv_mask; /* all bits of a lane */

/* -- masks ----------------------------------------------------------------------------------------------------------
 */
TV_INLINE tv_mask tv_mask_first(int64_t n) { /* lanes 0 .. n-1 */
  int32_t count = n > TV_LANES ? TV_LANES : (int32_t)n;
  return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)));
}
TV_INLINE tv_mask tv_and_mask(tv_mask a, tv_mask b) { return _mm256_and_ps(a, b); }
TV_INLINE tv_mask tv_or_mask(tv_mask a, tv_mask b) { return _mm256_or_ps(a, b); }
TV_INLINE tv_mask tv_xor_mask(tv_mask a, tv_mask b) { return _mm256_xor_ps(a, b); }
TV_INLINE tv_mask tv_not_mask(tv_mask a) { return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1))); }
TV_INLINE int tv_any(tv_mask a) { return _mm256_movemask_ps(a) != 0; }
TV_INLINE int tv_all(tv_mask a) { return _mm256_movemask_ps(a) == 255; }
TV_INLINE tv_f32 tv_select(tv_mask m, tv_f32 a, tv_f32 b) { return _mm256_blendv_ps(b, a, m); } /* m ? a : b */
TV_INLINE tv_i32 tv_select_i32(tv_mask m, tv_i32 a, tv_i32 b) {
  return _mm256_blendv_epi8(b, a, _mm256_castps_si256(m));
}

/* -- load, store, constants -----------------------------------------------------------------------------------------
 */
TV_INLINE tv_f32 tv_zero(void) { return _mm256_setzero_ps(); }
TV_INLINE tv_f32 tv_set1(float x) { return _mm256_set1_ps(x); }
TV_INLINE tv_f32 tv_broadcast(const float* p) { return _mm256_broadcast_ss(p); }
TV_INLINE tv_f32 tv_load(const float* p) { return _mm256_loadu_ps(p); }
TV_INLINE void tv_store(float* p, tv_f32 v) { _mm256_storeu_ps(p, v); }
TV_INLINE tv_f32 tv_load_mask(const float* p, tv_mask m) { return _mm256_maskload_ps(p, _mm256_castps_si256(m)); }
TV_INLINE void tv_store_mask(float* p, tv_mask m, tv_f32 v) { _mm256_maskstore_ps(p, _mm256_castps_si256(m), v); }
TV_INLINE tv_f32 tv_load_n(const float* p, int64_t n) { return tv_load_mask(p, tv_mask_first(n)); }
TV_INLINE void tv_store_n(float* p, int64_t n, tv_f32 v) { tv_store_mask(p, tv_mask_first(n), v); }
TV_INLINE tv_f32 tv_gather(const float* p, tv_i32 index) { return _mm256_i32gather_ps(p, index, 4); }
TV_INLINE tv_i32 tv_set1_i32(int32_t x) { return _mm256_set1_epi32(x); }
TV_INLINE tv_i32 tv_iota_i32(void) { return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7); }
TV_INLINE tv_i32 tv_load_i32(const int32_t* p) { return _mm256_loadu_si256((const __m256i*)p); }
TV_INLINE void tv_store_i32(int32_t* p, tv_i32 v) { _mm256_storeu_si256((__m256i*)p, v); }
TV_INLINE tv_i32 tv_load_i32_n(const int32_t* p, int64_t n) {
  return _mm256_maskload_epi32((const int*)p, _mm256_castps_si256(tv_mask_first(n)));
}
TV_INLINE void tv_store_i32_n(int32_t* p, int64_t n, tv_i32 v) {
  _mm256_maskstore_epi32((int*)p, _mm256_castps_si256(tv_mask_first(n)), v);
}

/* -- arithmetic -----------------------------------------------------------------------------------------------------
 */
TV_INLINE tv_f32 tv_add(tv_f32 a, tv_f32 b) { return _mm256_add_ps(a, b); }
TV_INLINE tv_f32 tv_sub(tv_f32 a, tv_f32 b) { return _mm256_sub_ps(a, b); }
TV_INLINE tv_f32 tv_mul(tv_f32 a, tv_f32 b) { return _mm256_mul_ps(a, b); }
TV_INLINE tv_f32 tv_div(tv_f32 a, tv_f32 b) { return _mm256_div_ps(a, b); }
TV_INLINE tv_f32 tv_fma(tv_f32 a, tv_f32 b, tv_f32 c) { return _mm256_fmadd_ps(a, b, c); }   /* a * b + c */
TV_INLINE tv_f32 tv_fms(tv_f32 a, tv_f32 b, tv_f32 c) { return _mm256_fmsub_ps(a, b, c); }   /* a * b - c */
TV_INLINE tv_f32 tv_fnma(tv_f32 a, tv_f32 b, tv_f32 c) { return _mm256_fnmadd_ps(a, b, c); } /* c - a * b */
TV_INLINE tv_f32 tv_min(tv_f32 a, tv_f32 b) { return _mm256_min_ps(a, b); }
TV_INLINE tv_f32 tv_max(tv_f32 a, tv_f32 b) { return _mm256_max_ps(a, b); }
TV_INLINE tv_f32 tv_sqrt(tv_f32 a) { return _mm256_sqrt_ps(a); }
TV_INLINE tv_f32 tv_and(tv_f32 a, tv_f32 b) { return _mm256_and_ps(a, b); }
TV_INLINE tv_f32 tv_or(tv_f32 a, tv_f32 b) { return _mm256_or_ps(a, b); }
TV_INLINE tv_f32 tv_xor(tv_f32 a, tv_f32 b) { return _mm256_xor_ps(a, b); }
TV_INLINE tv_f32 tv_abs(tv_f32 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
TV_INLINE tv_f32 tv_neg(tv_f32 a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
TV_INLINE tv_f32 tv_copysign(tv_f32 magnitude, tv_f32 sign) {
  tv_f32 bit = _mm256_set1_ps(-0.0f);
  return _mm256_or_ps(_mm256_andnot_ps(bit, magnitude), _mm256_and_ps(bit, sign));
}
TV_INLINE tv_f32 tv_floor(tv_f32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
TV_INLINE tv_f32 tv_ceil(tv_f32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
TV_INLINE tv_f32 tv_trunc(tv_f32 a) { return _mm256_round_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
TV_INLINE tv_f32 tv_round(tv_f32 a) { /* halves to even */
  return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
TV_INLINE tv_i32 tv_add_i32(tv_i32 a, tv_i32 b) { return _mm256_add_epi32(a, b); }
TV_INLINE tv_i32 tv_sub_i32(tv_i32 a, tv_i32 b) { return _mm256_sub_epi32(a, b); }
TV_INLINE tv_i32 tv_mul_i32(tv_i32 a, tv_i32 b) { return _mm256_mullo_epi32(a, b); }
TV_INLINE tv_i32 tv_min_i32(tv_i32 a, tv_i32 b) { return _mm256_min_epi32(a, b); }
TV_INLINE tv_i32 tv_max_i32(tv_i32 a, tv_i32 b) { return _mm256_max_epi32(a, b); }
TV_INLINE tv_i32 tv_and_i32(tv_i32 a, tv_i32 b) { return _mm256_and_si256(a, b); }
TV_INLINE tv_i32 tv_or_i32(tv_i32 a, tv_i32 b) { return _mm256_or_si256(a, b); }
TV_INLINE tv_i32 tv_xor_i32(tv_i32 a, tv_i32 b) { return _mm256_xor_si256(a, b); }
#define tv_shl_i32(a, count) _mm256_slli_epi32((a), (count))
#define tv_shr_i32(a, count) _mm256_srai_epi32((a), (count)) /* arithmetic */
#define tv_shr_u32(a, count) _mm256_srli_epi32((a), (count)) /* logical */

/* -- comparisons: false where a or b is NaN, but tv_ne ----------------------------------------------------------------
 */
TV_INLINE tv_mask tv_lt(tv_f32 a, tv_f32 b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
TV_INLINE tv_mask tv_le(tv_f32 a, tv_f32 b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
TV_INLINE tv_mask tv_gt(tv_f32 a, tv_f32 b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
TV_INLINE tv_mask tv_ge(tv_f32 a, tv_f32 b) { return _mm256_cmp_ps(a, b, _CMP_GE_OQ); }
TV_INLINE tv_mask tv_eq(tv_f32 a, tv_f32 b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
TV_INLINE tv_mask tv_ne(tv_f32 a, tv_f32 b) { return _mm256_cmp_ps(a, b, _CMP_NEQ_UQ); }
TV_INLINE tv_mask tv_isnan(tv_f32 a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
TV_INLINE tv_mask tv_eq_i32(tv_i32 a, tv_i32 b) { return _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)); }
TV_INLINE tv_mask tv_gt_i32(tv_i32 a, tv_i32 b) { return _mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)); }

/* -- conversions ----------------------------------------------------------------------------------------------------
 */
TV_INLINE tv_i32 tv_as_i32(tv_f32 a) { return _mm256_castps_si256(a); }
TV_INLINE tv_f32 tv_as_f32(tv_i32 a) { return _mm256_castsi256_ps(a); }
TV_INLINE tv_i32 tv_trunc_i32(tv_f32 a) { return _mm256_cvttps_epi32(a); }
TV_INLINE tv_i32 tv_round_i32(tv_f32 a) { return _mm256_cvtps_epi32(a); } /* halves to even */
TV_INLINE tv_f32 tv_from_i32(tv_i32 a) { return _mm256_cvtepi32_ps(a); }
TV_INLINE tv_f32 tv_load_f16(const uint16_t* p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p)); }
TV_INLINE void tv_store_f16(uint16_t* p, tv_f32 v) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
TV_INLINE tv_f32 tv_load_bf16(const uint16_t* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)), 16));
}
TV_INLINE void tv_store_bf16(uint16_t* p, tv_f32 v) { /* halves to even; a NaN stays one */
  __m256i bits = _mm256_castps_si256(v);
  __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
  __m256i nan = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
  rounded = _mm256_blendv_epi8(rounded, nan, _mm256_castps_si256(tv_isnan(v)));
  __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(rounded, rounded), 0x88);
  _mm_storeu_si128((__m128i*)p, _mm256_castsi256_si128(packed));
}
TV_INLINE tv_i32 tv_load_u8(const uint8_t* p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)p)); }
TV_INLINE tv_i32 tv_load_i8(const int8_t* p) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i*)p)); }

/* -- across lanes ---------------------------------------------------------------------------------------------------
 */
TV_INLINE float tv_sum(tv_f32 v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
TV_INLINE float tv_max_lane(tv_f32 v) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
TV_INLINE float tv_min_lane(tv_f32 v) {
  __m128 s = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  s = _mm_min_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_min_ss(s, _mm_movehdup_ps(s)));
}
TV_INLINE int64_t tv_sum_i32(tv_i32 v) {
  int32_t lanes[TV_LANES];
  int64_t sum = 0;
  tv_store_i32(lanes, v);
  for (int i = 0; i < TV_LANES; ++i) sum += lanes[i];
  return sum;
}

#endif

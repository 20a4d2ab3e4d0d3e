/* SPDX-License-Identifier: Apache-2.0
 * SIMD primitives on AVX-512 (F, BW, DQ, VL). Same names and meanings as isa/avx2.h, where they are described. */
#ifndef TVC_ISA_AVX512_H
#define TVC_ISA_AVX512_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define TV_LANES 16
#define TV_INLINE static inline __attribute__((always_inline, unused))
#define TV_PREFETCH(p) _mm_prefetch((const char*)(p), _MM_HINT_T0)

typedef __m512 tv_f32;
typedef __m512i tv_i32;
typedef __mmask16 tv_mask;

/* -- masks ----------------------------------------------------------------------------------------------------------
 */
TV_INLINE tv_mask tv_mask_first(int64_t n) { /* lanes 0 .. n-1 */
  return n >= TV_LANES ? (tv_mask)0xffff : (tv_mask)((1u << (n < 0 ? 0 : n)) - 1u);
}
TV_INLINE tv_mask tv_and_mask(tv_mask a, tv_mask b) { return (tv_mask)(a & b); }
TV_INLINE tv_mask tv_or_mask(tv_mask a, tv_mask b) { return (tv_mask)(a | b); }
TV_INLINE tv_mask tv_xor_mask(tv_mask a, tv_mask b) { return (tv_mask)(a ^ b); }
TV_INLINE tv_mask tv_not_mask(tv_mask a) { return (tv_mask)~a; }
TV_INLINE int tv_any(tv_mask a) { return a != 0; }
TV_INLINE int tv_all(tv_mask a) { return a == (tv_mask)0xffff; }
TV_INLINE tv_f32 tv_select(tv_mask m, tv_f32 a, tv_f32 b) { return _mm512_mask_blend_ps(m, b, a); } /* m ? a : b */
TV_INLINE tv_i32 tv_select_i32(tv_mask m, tv_i32 a, tv_i32 b) { return _mm512_mask_blend_epi32(m, b, a); }

/* -- load, store, constants -----------------------------------------------------------------------------------------
 */
TV_INLINE tv_f32 tv_zero(void) { return _mm512_setzero_ps(); }
TV_INLINE tv_f32 tv_set1(float x) { return _mm512_set1_ps(x); }
TV_INLINE tv_f32 tv_broadcast(const float* p) { return _mm512_set1_ps(*p); }
TV_INLINE tv_f32 tv_load(const float* p) { return _mm512_loadu_ps(p); }
TV_INLINE void tv_store(float* p, tv_f32 v) { _mm512_storeu_ps(p, v); }
TV_INLINE tv_f32 tv_load_mask(const float* p, tv_mask m) { return _mm512_maskz_loadu_ps(m, p); }
TV_INLINE void tv_store_mask(float* p, tv_mask m, tv_f32 v) { _mm512_mask_storeu_ps(p, m, v); }
TV_INLINE tv_f32 tv_load_n(const float* p, int64_t n) { return tv_load_mask(p, tv_mask_first(n)); }
TV_INLINE void tv_store_n(float* p, int64_t n, tv_f32 v) { tv_store_mask(p, tv_mask_first(n), v); }
TV_INLINE tv_f32 tv_gather(const float* p, tv_i32 index) { return _mm512_i32gather_ps(index, p, 4); }
TV_INLINE tv_i32 tv_set1_i32(int32_t x) { return _mm512_set1_epi32(x); }
TV_INLINE tv_i32 tv_iota_i32(void) { return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); }
TV_INLINE tv_i32 tv_load_i32(const int32_t* p) { return _mm512_loadu_si512(p); }
TV_INLINE void tv_store_i32(int32_t* p, tv_i32 v) { _mm512_storeu_si512(p, v); }
TV_INLINE tv_i32 tv_load_i32_n(const int32_t* p, int64_t n) { return _mm512_maskz_loadu_epi32(tv_mask_first(n), p); }
TV_INLINE void tv_store_i32_n(int32_t* p, int64_t n, tv_i32 v) { _mm512_mask_storeu_epi32(p, tv_mask_first(n), v); }

/* -- arithmetic -----------------------------------------------------------------------------------------------------
 */
TV_INLINE tv_f32 tv_add(tv_f32 a, tv_f32 b) { return _mm512_add_ps(a, b); }
TV_INLINE tv_f32 tv_sub(tv_f32 a, tv_f32 b) { return _mm512_sub_ps(a, b); }
TV_INLINE tv_f32 tv_mul(tv_f32 a, tv_f32 b) { return _mm512_mul_ps(a, b); }
TV_INLINE tv_f32 tv_div(tv_f32 a, tv_f32 b) { return _mm512_div_ps(a, b); }
TV_INLINE tv_f32 tv_fma(tv_f32 a, tv_f32 b, tv_f32 c) { return _mm512_fmadd_ps(a, b, c); }   /* a * b + c */
TV_INLINE tv_f32 tv_fms(tv_f32 a, tv_f32 b, tv_f32 c) { return _mm512_fmsub_ps(a, b, c); }   /* a * b - c */
TV_INLINE tv_f32 tv_fnma(tv_f32 a, tv_f32 b, tv_f32 c) { return _mm512_fnmadd_ps(a, b, c); } /* c - a * b */
TV_INLINE tv_f32 tv_min(tv_f32 a, tv_f32 b) { return _mm512_min_ps(a, b); }
TV_INLINE tv_f32 tv_max(tv_f32 a, tv_f32 b) { return _mm512_max_ps(a, b); }
TV_INLINE tv_f32 tv_sqrt(tv_f32 a) { return _mm512_sqrt_ps(a); }
TV_INLINE tv_f32 tv_and(tv_f32 a, tv_f32 b) { return _mm512_and_ps(a, b); }
TV_INLINE tv_f32 tv_or(tv_f32 a, tv_f32 b) { return _mm512_or_ps(a, b); }
TV_INLINE tv_f32 tv_xor(tv_f32 a, tv_f32 b) { return _mm512_xor_ps(a, b); }
TV_INLINE tv_f32 tv_abs(tv_f32 a) { return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), a); }
TV_INLINE tv_f32 tv_neg(tv_f32 a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
TV_INLINE tv_f32 tv_copysign(tv_f32 magnitude, tv_f32 sign) {
  tv_f32 bit = _mm512_set1_ps(-0.0f);
  return _mm512_or_ps(_mm512_andnot_ps(bit, magnitude), _mm512_and_ps(bit, sign));
}
TV_INLINE tv_f32 tv_floor(tv_f32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
TV_INLINE tv_f32 tv_ceil(tv_f32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
TV_INLINE tv_f32 tv_trunc(tv_f32 a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
TV_INLINE tv_f32 tv_round(tv_f32 a) { /* halves to even */
  return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
TV_INLINE tv_i32 tv_add_i32(tv_i32 a, tv_i32 b) { return _mm512_add_epi32(a, b); }
TV_INLINE tv_i32 tv_sub_i32(tv_i32 a, tv_i32 b) { return _mm512_sub_epi32(a, b); }
TV_INLINE tv_i32 tv_mul_i32(tv_i32 a, tv_i32 b) { return _mm512_mullo_epi32(a, b); }
TV_INLINE tv_i32 tv_min_i32(tv_i32 a, tv_i32 b) { return _mm512_min_epi32(a, b); }
TV_INLINE tv_i32 tv_max_i32(tv_i32 a, tv_i32 b) { return _mm512_max_epi32(a, b); }
TV_INLINE tv_i32 tv_and_i32(tv_i32 a, tv_i32 b) { return _mm512_and_si512(a, b); }
TV_INLINE tv_i32 tv_or_i32(tv_i32 a, tv_i32 b) { return _mm512_or_si512(a, b); }
TV_INLINE tv_i32 tv_xor_i32(tv_i32 a, tv_i32 b) { return _mm512_xor_si512(a, b); }
#define tv_shl_i32(a, count) _mm512_slli_epi32((a), (count))
#define tv_shr_i32(a, count) _mm512_srai_epi32((a), (count)) /* arithmetic */
#define tv_shr_u32(a, count) _mm512_srli_epi32((a), (count)) /* logical */

/* -- comparisons: false where a or b is NaN, but tv_ne ----------------------------------------------------------------
 */
TV_INLINE tv_mask tv_lt(tv_f32 a, tv_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
TV_INLINE tv_mask tv_le(tv_f32 a, tv_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
TV_INLINE tv_mask tv_gt(tv_f32 a, tv_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
TV_INLINE tv_mask tv_ge(tv_f32 a, tv_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
TV_INLINE tv_mask tv_eq(tv_f32 a, tv_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
TV_INLINE tv_mask tv_ne(tv_f32 a, tv_f32 b) { return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ); }
TV_INLINE tv_mask tv_isnan(tv_f32 a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
TV_INLINE tv_mask tv_eq_i32(tv_i32 a, tv_i32 b) { return _mm512_cmpeq_epi32_mask(a, b); }
TV_INLINE tv_mask tv_gt_i32(tv_i32 a, tv_i32 b) { return _mm512_cmpgt_epi32_mask(a, b); }

/* -- conversions ----------------------------------------------------------------------------------------------------
 */
TV_INLINE tv_i32 tv_as_i32(tv_f32 a) { return _mm512_castps_si512(a); }
TV_INLINE tv_f32 tv_as_f32(tv_i32 a) { return _mm512_castsi512_ps(a); }
TV_INLINE tv_i32 tv_trunc_i32(tv_f32 a) { return _mm512_cvttps_epi32(a); }
TV_INLINE tv_i32 tv_round_i32(tv_f32 a) { return _mm512_cvtps_epi32(a); } /* halves to even */
TV_INLINE tv_f32 tv_from_i32(tv_i32 a) { return _mm512_cvtepi32_ps(a); }
TV_INLINE tv_f32 tv_load_f16(const uint16_t* p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p)); }
TV_INLINE void tv_store_f16(uint16_t* p, tv_f32 v) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
TV_INLINE tv_f32 tv_load_bf16(const uint16_t* p) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p)), 16));
}
TV_INLINE void tv_store_bf16(uint16_t* p, tv_f32 v) { /* halves to even; a NaN stays one */
  __m512i bits = _mm512_castps_si512(v);
  __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
  __m512i nan = _mm512_or_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(0x40));
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtepi32_epi16(tv_select_i32(tv_isnan(v), nan, rounded)));
}
TV_INLINE tv_i32 tv_load_u8(const uint8_t* p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i*)p)); }
TV_INLINE tv_i32 tv_load_i8(const int8_t* p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i*)p)); }

/* -- across lanes ---------------------------------------------------------------------------------------------------
 */
TV_INLINE float tv_sum(tv_f32 v) { return _mm512_reduce_add_ps(v); }
TV_INLINE float tv_max_lane(tv_f32 v) { return _mm512_reduce_max_ps(v); }
TV_INLINE float tv_min_lane(tv_f32 v) { return _mm512_reduce_min_ps(v); }
TV_INLINE int64_t tv_sum_i32(tv_i32 v) {
  return _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_cvtepi32_epi64(_mm512_castsi512_si256(v)),
                                                  _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v, 1))));
}

#endif

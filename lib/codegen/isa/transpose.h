/* SPDX-License-Identifier: Apache-2.0
 * Small transposes; x86 with AVX, which both x86 targets have. */
#ifndef TVC_ISA_TRANSPOSE_H
#define TVC_ISA_TRANSPOSE_H

#include <immintrin.h>
#include <stdint.h>

/* y[j * y_row + i] = x[i * x_row + j] for i, j in 0 .. 7 */
static inline void tv_transpose_8x8(const float* x, int64_t x_row, float* y, int64_t y_row) {
  __m256 r[8], t[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(x + i * x_row);
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(y + i * y_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(y + (i + 4) * y_row, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

#endif

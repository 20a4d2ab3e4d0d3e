/* SPDX-License-Identifier: Apache-2.0
 * What every emitted file sees: integer arithmetic of sizes, and nothing that needs a vector unit. */
#ifndef TV_PRELUDE_H
#define TV_PRELUDE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi.h"

/* Complex elements are moved, never computed with. */
typedef struct {
  float re, im;
} tv_c64;
typedef struct {
  double re, im;
} tv_c128;

/* Floor division and the remainder with the divisor's sign; a zero divisor gives 0, so that no size can trap. */
static inline int64_t tv_floordiv(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
static inline int64_t tv_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - tv_floordiv(a, b) * b; }
/* Sizes that are not 1 are equal. */
static inline int64_t tv_size_broadcast(int64_t a, int64_t b) { return a == 1 ? b : a; }
static inline int64_t tv_size_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t tv_size_max(int64_t a, int64_t b) { return a > b ? a : b; }

#endif

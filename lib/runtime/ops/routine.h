/* SPDX-License-Identifier: Apache-2.0
 * What run-time routines share: sizes of elements, results, numbers of any type. */
#ifndef TVRT_ROUTINE_H
#define TVRT_ROUTINE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

static inline int64_t tvrt_element_bytes(int32_t dtype) {
  switch (dtype) {
    case TVRT_U8:
    case TVRT_I8:
    case TVRT_BOOL:
    case TVRT_F8E4M3FN:
    case TVRT_F8E4M3FNUZ:
    case TVRT_F8E5M2:
    case TVRT_F8E5M2FNUZ:
    case TVRT_F8E8M0: return 1;
    case TVRT_U16:
    case TVRT_I16:
    case TVRT_F16:
    case TVRT_BF16: return 2;
    case TVRT_F32:
    case TVRT_I32:
    case TVRT_U32: return 4;
    case TVRT_F64:
    case TVRT_I64:
    case TVRT_U64:
    case TVRT_C64: return 8;
    case TVRT_C128: return 16;
    case TVRT_STRING: return (int64_t)sizeof(tvrt_string);
    default: return 0; /* below a byte */
  }
}

static inline int64_t tvrt_count(const tvrt_value* v) {
  int64_t n = 1;
  for (int32_t k = 0; k < v->rank; ++k) n *= v->dims[k];
  return n;
}

/* Bytes of so many elements; those of 2 and 4 bits are packed. */
static inline int64_t tvrt_bytes(int32_t dtype, int64_t count) {
  int64_t width = tvrt_element_bytes(dtype);
  int bits = dtype == TVRT_U2 || dtype == TVRT_I2 ? 2 : 4;
  return width > 0 ? count * width : (count * bits + 7) / 8;
}

/* Shapes the output and takes its memory. A status. */
static inline int32_t tvrt_make(tvrt_frame* f, tvrt_value* out, int32_t dtype, int32_t rank, const int64_t* dims) {
  out->kind = TVRT_KIND_TENSOR;
  out->dtype = dtype;
  out->rank = rank;
  for (int32_t k = 0; k < rank; ++k) out->dims[k] = dims[k];
  int64_t bytes = tvrt_bytes(dtype, tvrt_count(out));
  out->data = f->host->acquire(f, bytes > 0 ? bytes : 1);
  return out->data ? TVRT_OK : TVRT_OUT_OF_MEMORY;
}

static inline float tvrt_half_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023, bits;
  float f;
  if (exponent == 0) {
    f = (float)mantissa * 0x1p-24f;
    return sign ? -f : f;
  }
  bits = sign | (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23) | mantissa << 13;
  memcpy(&f, &bits, 4);
  return f;
}

/* Element i as a double: exact for all but large 64-bit integers. */
static inline double tvrt_number(const tvrt_value* v, int64_t i) {
  switch (v->dtype) {
    case TVRT_F32: return ((const float*)v->data)[i];
    case TVRT_F64: return ((const double*)v->data)[i];
    case TVRT_F16: return tvrt_half_to_float(((const uint16_t*)v->data)[i]);
    case TVRT_BF16: {
      uint32_t bits = (uint32_t)((const uint16_t*)v->data)[i] << 16;
      float f;
      memcpy(&f, &bits, 4);
      return f;
    }
    case TVRT_I8: return ((const int8_t*)v->data)[i];
    case TVRT_U8:
    case TVRT_BOOL: return ((const uint8_t*)v->data)[i];
    case TVRT_I16: return ((const int16_t*)v->data)[i];
    case TVRT_U16: return ((const uint16_t*)v->data)[i];
    case TVRT_I32: return ((const int32_t*)v->data)[i];
    case TVRT_U32: return ((const uint32_t*)v->data)[i];
    case TVRT_I64: return (double)((const int64_t*)v->data)[i];
    case TVRT_U64: return (double)((const uint64_t*)v->data)[i];
    default: return 0;
  }
}

/* Element i of an integer tensor. */
static inline int64_t tvrt_integer(const tvrt_value* v, int64_t i) {
  if (v->dtype == TVRT_I64) return ((const int64_t*)v->data)[i];
  if (v->dtype == TVRT_U64) return (int64_t)((const uint64_t*)v->data)[i];
  return (int64_t)tvrt_number(v, i);
}

/* -1, 0, 1 as element i of a is less than, equal to, greater than element j of b, both of one type. NaN is greatest. */
static inline int tvrt_compare(const tvrt_value* a, int64_t i, const tvrt_value* b, int64_t j) {
  if (a->dtype == TVRT_I64) {
    int64_t x = ((const int64_t*)a->data)[i], y = ((const int64_t*)b->data)[j];
    return (x > y) - (x < y);
  }
  if (a->dtype == TVRT_U64) {
    uint64_t x = ((const uint64_t*)a->data)[i], y = ((const uint64_t*)b->data)[j];
    return (x > y) - (x < y);
  }
  if (a->dtype == TVRT_STRING) {
    const tvrt_string *x = (const tvrt_string*)a->data + i, *y = (const tvrt_string*)b->data + j;
    int64_t n = x->size < y->size ? x->size : y->size;
    int c = n > 0 ? memcmp(x->data, y->data, (size_t)n) : 0;
    return c != 0 ? (c > 0) - (c < 0) : (x->size > y->size) - (x->size < y->size);
  }
  double x = tvrt_number(a, i), y = tvrt_number(b, j);
  if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
  return (x > y) - (x < y);
}

#endif

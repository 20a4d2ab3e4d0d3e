/* SPDX-License-Identifier: Apache-2.0
 * Det: determinants of the last two axes, by elimination with partial pivoting in double precision. */
#include "routine.h"

static double determinant(double* a, int64_t n) {
  double det = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t r = k + 1; r < n; ++r)
      if (fabs(a[r * n + k]) > fabs(a[pivot * n + k])) pivot = r;
    const double p = a[pivot * n + k];
    if (p == 0) return 0;
    if (pivot != k) {
      det = -det;
      for (int64_t c = k; c < n; ++c) {
        double t = a[k * n + c];
        a[k * n + c] = a[pivot * n + c];
        a[pivot * n + c] = t;
      }
    }
    det *= p;
    for (int64_t r = k + 1; r < n; ++r) {
      const double factor = a[r * n + k] / p;
      for (int64_t c = k; c < n; ++c) a[r * n + c] -= factor * a[k * n + c];
    }
  }
  return det;
}

int32_t tvrt_op_Det(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                    int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count, (void)attrs;
  const tvrt_value* x = in[0];
  const int64_t n = x->dims[x->rank - 1];
  if (x->dims[x->rank - 2] != n) return f->host->fail(f, TVRT_RUN_FAILED, "Det: the matrices are not square");
  int32_t status = tvrt_make(f, out[0], x->dtype, x->rank - 2, x->dims);
  double* a = status ? NULL : f->host->acquire(f, n * n * 8 + 8);
  if (!a) return status ? status : TVRT_OUT_OF_MEMORY;
  const int64_t count = tvrt_count(out[0]);
  for (int64_t m = 0; m < count; ++m) {
    for (int64_t k = 0; k < n * n; ++k) a[k] = tvrt_number(x, m * n * n + k);
    const double det = determinant(a, n);
    if (x->dtype == TVRT_F64) ((double*)out[0]->data)[m] = det;
    else ((float*)out[0]->data)[m] = (float)det;
  }
  f->host->release(f, a);
  return TVRT_OK;
}

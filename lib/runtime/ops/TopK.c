/* SPDX-License-Identifier: Apache-2.0
 * TopK (ints: axis, largest, sorted): the K largest or smallest elements along an axis, of equal ones the first;
 * results in order. */
#include "routine.h"

typedef struct {
  const tvrt_value* x;
  int64_t base, stride;
  int sign; /* 1: smallest first, -1: largest first */
} row;

/* Whether element i of the row stands before element j. */
static int before(const row* r, int64_t i, int64_t j) {
  int c = r->sign * tvrt_compare(r->x, r->base + i * r->stride, r->x, r->base + j * r->stride);
  return c != 0 ? c < 0 : i < j;
}

/* heap[0] is the last of the kept ones. */
static void sift(const row* r, int64_t* heap, int64_t n, int64_t at) {
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= n) return;
    if (child + 1 < n && before(r, heap[child], heap[child + 1])) ++child;
    if (!before(r, heap[at], heap[child])) return;
    int64_t t = heap[at];
    heap[at] = heap[child];
    heap[child] = t;
    at = child;
  }
}

static void select_row(const row* r, int64_t size, int64_t k, int64_t* heap) {
  if (k == 0) return;
  for (int64_t i = 0; i < k; ++i) heap[i] = i;
  for (int64_t i = k / 2; i-- > 0;) sift(r, heap, k, i);
  for (int64_t i = k; i < size; ++i) {
    if (!before(r, i, heap[0])) continue;
    heap[0] = i;
    sift(r, heap, k, 0);
  }
  for (int64_t n = k; n-- > 1;) {
    int64_t t = heap[0];
    heap[0] = heap[n];
    heap[n] = t;
    sift(r, heap, n, 0);
  }
}

int32_t tvrt_op_TopK(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                     int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  const tvrt_value* x = in[0];
  const int64_t axis = attrs->ints[0], size = x->dims[axis], width = tvrt_element_bytes(x->dtype),
                k = tvrt_integer(in[1], 0);
  if (k < 0 || k > size || width == 0) return f->host->fail(f, TVRT_RUN_FAILED, "TopK: K is larger than the axis");
  int64_t dims[TVRT_MAX_RANK], inner = 1, outer = 1;
  for (int32_t a = 0; a < x->rank; ++a) {
    dims[a] = a == axis ? k : x->dims[a];
    if (a < axis) outer *= x->dims[a];
    if (a > axis) inner *= x->dims[a];
  }
  tvrt_value values = {0}, indices = {0};
  tvrt_value *v = out_count > 0 && out[0] ? out[0] : &values, *at = out_count > 1 && out[1] ? out[1] : &indices;
  int32_t status = tvrt_make(f, v, x->dtype, x->rank, dims);
  if (!status) status = tvrt_make(f, at, TVRT_I64, x->rank, dims);
  int64_t* heap = status ? NULL : f->host->acquire(f, (k + 1) * 8);
  if (!heap) return status ? status : TVRT_OUT_OF_MEMORY;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const row r = {x, o * size * inner + i, inner, attrs->ints[1] ? -1 : 1};
      select_row(&r, size, k, heap);
      for (int64_t n = 0; n < k; ++n) {
        int64_t to = (o * k + n) * inner + i;
        memcpy((char*)v->data + to * width, (const char*)x->data + (r.base + heap[n] * inner) * width, (size_t)width);
        ((int64_t*)at->data)[to] = heap[n];
      }
    }
  f->host->release(f, heap);
  if (v == &values) f->host->release(f, values.data);
  if (at == &indices) f->host->release(f, indices.data);
  return TVRT_OK;
}

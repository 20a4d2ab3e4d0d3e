/* SPDX-License-Identifier: Apache-2.0
 * Unique (ints: axis or -1, sorted): the distinct elements, or slices along an axis; where each stands first, which one
 * each element is, and how often each occurs. */
#include "routine.h"

typedef struct {
  const tvrt_value* x;
  int64_t outer, size, inner; /* slice k: elements (o, k, i) */
} slices;

static int compare_slices(const slices* s, int64_t a, int64_t b) {
  for (int64_t o = 0; o < s->outer; ++o)
    for (int64_t i = 0; i < s->inner; ++i) {
      int c = tvrt_compare(s->x, (o * s->size + a) * s->inner + i, s->x, (o * s->size + b) * s->inner + i);
      if (c != 0) return c;
    }
  return 0;
}

static void sort_slices(const slices* s, int64_t* a, int64_t* scratch) {
  for (int64_t width = 1; width < s->size; width *= 2) {
    for (int64_t from = 0; from < s->size; from += 2 * width) {
      int64_t middle = from + width < s->size ? from + width : s->size,
              to = from + 2 * width < s->size ? from + 2 * width : s->size;
      int64_t i = from, j = middle;
      for (int64_t k = from; k < to; ++k)
        scratch[k] = j >= to || (i < middle && compare_slices(s, a[i], a[j]) <= 0) ? a[i++] : a[j++];
    }
    memcpy(a, scratch, (size_t)s->size * sizeof *a);
  }
}

/* table: first, count, inverse, order, scratch, rank; each of s->size. Returns the number of distinct slices. */
static int64_t group(const slices* s, int sorted, int64_t* table) {
  const int64_t n = s->size;
  int64_t *first = table, *count = table + n, *inverse = table + 2 * n, *order = table + 3 * n,
          *scratch = table + 4 * n, *rank = table + 5 * n;
  for (int64_t k = 0; k < n; ++k) order[k] = k;
  sort_slices(s, order, scratch);
  int64_t groups = 0;
  for (int64_t k = 0; k < n; ++k) { /* the sort is stable, so that a group's first is its earliest */
    if (k == 0 || compare_slices(s, order[k - 1], order[k]) != 0) {
      first[groups] = order[k];
      count[groups++] = 0;
    }
    ++count[groups - 1];
    inverse[order[k]] = groups - 1;
  }
  if (sorted) return groups;
  /* In order of first occurrence: a pass over the elements numbers the groups anew. */
  memcpy(order, first, (size_t)groups * sizeof *first);
  memcpy(scratch, count, (size_t)groups * sizeof *count);
  for (int64_t k = 0; k < groups; ++k) rank[k] = -1;
  int64_t next = 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t g = inverse[k];
    if (rank[g] < 0) {
      rank[g] = next;
      first[next] = order[g];
      count[next++] = scratch[g];
    }
    inverse[k] = rank[g];
  }
  return groups;
}

static int32_t deliver(tvrt_frame* f, tvrt_value* out, const int64_t* values, int64_t count) {
  if (!out) return TVRT_OK;
  int32_t status = tvrt_make(f, out, TVRT_I64, 1, &count);
  if (!status) memcpy(out->data, values, (size_t)count * 8);
  return status;
}

int32_t tvrt_op_Unique(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                       int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  const tvrt_value* x = in[0];
  const int64_t axis = attrs->ints[0], width = tvrt_element_bytes(x->dtype);
  slices s = {x, 1, 1, 1};
  if (axis < 0) s.size = tvrt_count(x);
  for (int32_t a = 0; a < x->rank && axis >= 0; ++a)
    *(a < axis ? &s.outer : a == axis ? &s.size : &s.inner) *= x->dims[a];
  int64_t* table = f->host->acquire(f, (s.size + 1) * 6 * 8);
  if (!table) return TVRT_OUT_OF_MEMORY;
  const int64_t groups = group(&s, attrs->ints[1] != 0, table);
  int32_t status = TVRT_OK;
  if (out[0]) {
    int64_t dims[TVRT_MAX_RANK] = {groups};
    for (int32_t a = 0; a < x->rank && axis >= 0; ++a) dims[a] = a == axis ? groups : x->dims[a];
    status = tvrt_make(f, out[0], x->dtype, axis < 0 ? 1 : x->rank, dims);
    for (int64_t o = 0; o < s.outer && !status; ++o)
      for (int64_t g = 0; g < groups; ++g)
        memcpy((char*)out[0]->data + (o * groups + g) * s.inner * width,
               (const char*)x->data + (o * s.size + table[g]) * s.inner * width, (size_t)(s.inner * width));
  }
  if (!status) status = deliver(f, out_count > 1 ? out[1] : NULL, table, groups);
  if (!status) status = deliver(f, out_count > 2 ? out[2] : NULL, table + 2 * s.size, s.size);
  if (!status) status = deliver(f, out_count > 3 ? out[3] : NULL, table + s.size, groups);
  f->host->release(f, table);
  return status;
}

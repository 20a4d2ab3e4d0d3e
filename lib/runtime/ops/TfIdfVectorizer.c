/* SPDX-License-Identifier: Apache-2.0
 * TfIdfVectorizer (ints: shortest, longest gram, largest skip, mode 0 TF, 1 IDF, 2 TFIDF, width of the result, whether
 * the pool is of strings, number of counts, number of grams, counts.., columns.., pool..; floats: weights; strings:
 * pool): how often each gram of the pool occurs in a row, with up to so many tokens between two of its tokens. */
#include "routine.h"

typedef struct {
  const tvrt_attrs* attrs;
  const int64_t *counts, *columns, *pool;
  int64_t count_count, pool_size;
  int strings;
} grams;

static int same_token(const grams* g, int64_t at, const tvrt_value* x, int64_t i) {
  if (!g->strings) return g->pool[at] == tvrt_integer(x, i);
  const tvrt_string *a = &g->attrs->strings[at], *b = (const tvrt_string*)x->data + i;
  return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, (size_t)a->size) == 0);
}

/* Adds the grams of n tokens, `step` apart, of the row's tokens [from, from + size). */
static void count_grams(const grams* g, const tvrt_value* x, int64_t from, int64_t size, int64_t n, int64_t step,
                        float* row) {
  int64_t gram = 0;
  for (int64_t m = 1; m < n; ++m) gram += ((m < g->count_count ? g->counts[m] : g->pool_size) - g->counts[m - 1]) / m;
  const int64_t first = g->counts[n - 1], last = n < g->count_count ? g->counts[n] : g->pool_size;
  for (int64_t at = first; at + n <= last; at += n, ++gram)
    for (int64_t i = 0; i + (n - 1) * step < size; ++i) {
      int64_t k = 0;
      while (k < n && same_token(g, at + k, x, from + i + k * step)) ++k;
      if (k == n) row[g->columns[gram]] += 1;
    }
}

int32_t tvrt_op_TfIdfVectorizer(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                                int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count;
  const tvrt_value* x = in[0];
  const int64_t* a = attrs->ints;
  const int64_t width = a[4], gram_count = a[7];
  grams g = {attrs, a + 8, a + 8 + a[6], a + 8 + a[6] + gram_count, a[6], 0, a[5] != 0};
  g.pool_size = g.strings ? attrs->string_count : attrs->int_count - 8 - a[6] - gram_count;
  const int64_t rows = x->rank == 2 ? x->dims[0] : 1, size = x->rank == 0 ? 1 : x->dims[x->rank - 1];
  const int64_t dims[2] = {x->rank == 2 ? rows : width, width};
  int32_t status = tvrt_make(f, out[0], TVRT_F32, x->rank == 2 ? 2 : 1, dims);
  if (status) return status;
  memset(out[0]->data, 0, (size_t)(rows * width) * 4);
  for (int64_t r = 0; r < rows; ++r) {
    float* row = (float*)out[0]->data + r * width;
    for (int64_t n = a[0]; n <= a[1] && n <= g.count_count; ++n)
      for (int64_t skip = 0; skip <= (n == 1 ? 0 : a[2]); ++skip) count_grams(&g, x, r * size, size, n, skip + 1, row);
    for (int64_t k = 0; k < gram_count && a[3] != 0; ++k) {
      const float weight = k < attrs->float_count ? (float)attrs->floats[k] : 1;
      float* y = &row[g.columns[k]];
      if (a[3] == 1 && *y > 0) *y = weight;
      if (a[3] == 2) *y *= weight;
    }
  }
  return TVRT_OK;
}

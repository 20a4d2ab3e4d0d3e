/* SPDX-License-Identifier: Apache-2.0
 * NonMaxSuppression (ints: center_point_box): of each batch and class the boxes by falling score, without those that
 * overlap a chosen one by more than the threshold. Rows of the result: batch, class, box. */
#include "routine.h"

typedef struct {
  const float *boxes, *scores;
  int64_t *order, *scratch; /* room for all boxes of a class each */
  int64_t spatial, limit;
  float overlap, least;
  int center, has_least;
} search;

static void corners(const search* s, int64_t box, float c[4]) {
  const float* b = s->boxes + box * 4;
  if (s->center) {
    c[0] = b[0] - b[2] / 2, c[1] = b[1] - b[3] / 2, c[2] = b[0] + b[2] / 2, c[3] = b[1] + b[3] / 2;
  } else {
    c[0] = fminf(b[0], b[2]), c[1] = fminf(b[1], b[3]), c[2] = fmaxf(b[0], b[2]), c[3] = fmaxf(b[1], b[3]);
  }
}

/* Whether the intersection over the union is larger than the threshold. */
static int overlaps(const search* s, int64_t i, int64_t j) {
  float a[4], b[4];
  corners(s, i, a);
  corners(s, j, b);
  float height = fminf(a[2], b[2]) - fmaxf(a[0], b[0]), width = fminf(a[3], b[3]) - fmaxf(a[1], b[1]);
  if (!(height > 0) || !(width > 0)) return 0;
  float common = height * width, area_a = (a[2] - a[0]) * (a[3] - a[1]), area_b = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(area_a > 0) || !(area_b > 0)) return 0;
  return common / (area_a + area_b - common) > s->overlap;
}

/* Stable, highest score first. */
static void sort_by_score(const search* s, int64_t* a, int64_t* scratch, int64_t n) {
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t from = 0; from < n; from += 2 * width) {
      int64_t middle = from + width < n ? from + width : n, to = from + 2 * width < n ? from + 2 * width : n;
      int64_t i = from, j = middle;
      for (int64_t k = from; k < to; ++k)
        scratch[k] = j >= to || (i < middle && s->scores[a[i]] >= s->scores[a[j]]) ? a[i++] : a[j++];
    }
    memcpy(a, scratch, (size_t)n * sizeof *a);
  }
}

/* The chosen boxes of one class come to stand in front in `order`. */
static int64_t choose(const search* s) {
  int64_t n = 0, chosen = 0;
  for (int64_t k = 0; k < s->spatial; ++k)
    if (!s->has_least || s->scores[k] > s->least) s->order[n++] = k;
  sort_by_score(s, s->order, s->scratch, n);
  for (int64_t k = 0; k < n && chosen < s->limit; ++k) {
    int keep = 1;
    for (int64_t c = 0; c < chosen && keep; ++c) keep = !overlaps(s, s->order[c], s->order[k]);
    if (keep) s->order[chosen++] = s->order[k];
  }
  return chosen;
}

static float number_or(const tvrt_value* const* in, int32_t in_count, int32_t k, float otherwise) {
  return k < in_count && in[k] && tvrt_count(in[k]) > 0 ? (float)tvrt_number(in[k], 0) : otherwise;
}

int32_t tvrt_op_NonMaxSuppression(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                                  int32_t out_count, const tvrt_attrs* attrs) {
  (void)out_count;
  const int64_t batches = in[1]->dims[0], classes = in[1]->dims[1], spatial = in[1]->dims[2];
  if (in[0]->dims[0] != batches || in[0]->dims[1] != spatial || in[0]->dims[2] != 4 || in[0]->dtype != TVRT_F32 ||
      in[1]->dtype != TVRT_F32)
    return f->host->fail(f, TVRT_RUN_FAILED, "NonMaxSuppression: boxes and scores do not fit");
  int64_t limit = in_count > 2 && in[2] && tvrt_count(in[2]) > 0 ? tvrt_integer(in[2], 0) : 0;
  limit = limit < 0 ? 0 : limit > spatial ? spatial : limit;
  int64_t room = 64, count = 0;
  int64_t* found = f->host->acquire(f, room * 24);
  int64_t* order = f->host->acquire(f, (spatial + 1) * 16);
  if (!found || !order) return TVRT_OUT_OF_MEMORY;
  for (int64_t at = 0; at < batches * classes; ++at) {
    const search s = {(const float*)in[0]->data + at / classes * spatial * 4,
                      (const float*)in[1]->data + at * spatial,
                      order,
                      order + spatial,
                      spatial,
                      limit,
                      number_or(in, in_count, 3, 0),
                      number_or(in, in_count, 4, 0),
                      attrs->ints[0] != 0,
                      in_count > 4 && in[4] != NULL};
    const int64_t chosen = limit > 0 ? choose(&s) : 0;
    if (count + chosen > room) {
      room = 2 * (count + chosen);
      int64_t* grown = f->host->acquire(f, room * 24);
      if (!grown) return TVRT_OUT_OF_MEMORY;
      memcpy(grown, found, (size_t)count * 24);
      f->host->release(f, found);
      found = grown;
    }
    for (int64_t k = 0; k < chosen; ++k, ++count) {
      found[count * 3] = at / classes;
      found[count * 3 + 1] = at % classes;
      found[count * 3 + 2] = order[k];
    }
  }
  const int64_t dims[2] = {count, 3};
  int32_t status = tvrt_make(f, out[0], TVRT_I64, 2, dims);
  if (!status) memcpy(out[0]->data, found, (size_t)count * 24);
  f->host->release(f, found);
  f->host->release(f, order);
  return status;
}

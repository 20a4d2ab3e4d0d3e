/* SPDX-License-Identifier: Apache-2.0
 * RandomNormal, RandomUniform and their Like forms, Bernoulli, Multinomial. A seed gives the same numbers in every run;
 * without one the numbers differ from run to run. ints: dtype, has_seed, seed; floats: the two parameters of the
 * distribution. Operand 0: the shape as a list, or a tensor of that shape. */
#include <time.h>

#include "routine.h"

typedef struct {
  uint64_t state;
} generator;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(generator* g) {
  uint64_t z = (g->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static double uniform(generator* g) { return (double)(next(g) >> 11) * 0x1p-53; }

/* Box and Muller. */
static double normal(generator* g) {
  double u = 1 - uniform(g), v = uniform(g);
  return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static generator seeded(const tvrt_frame* f, const tvrt_attrs* attrs) {
  generator g;
  if (attrs->ints[1]) {
    g.state = (uint64_t)attrs->ints[2];
  } else {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    g.state = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec + (uint64_t)(uintptr_t)f;
  }
  next(&g);
  return g;
}

static int32_t store(tvrt_frame* f, tvrt_value* out, int64_t i, double x) {
  switch (out->dtype) {
    case TVRT_F32: ((float*)out->data)[i] = (float)x; return TVRT_OK;
    case TVRT_F64: ((double*)out->data)[i] = x; return TVRT_OK;
    case TVRT_BOOL:
    case TVRT_U8: ((uint8_t*)out->data)[i] = x != 0; return TVRT_OK;
    case TVRT_I32: ((int32_t*)out->data)[i] = (int32_t)x; return TVRT_OK;
    case TVRT_I64: ((int64_t*)out->data)[i] = (int64_t)x; return TVRT_OK;
    default: return f->host->fail(f, TVRT_UNSUPPORTED, "random numbers of this type");
  }
}

static int32_t fill(tvrt_frame* f, const tvrt_value* like, tvrt_value* out, const tvrt_attrs* attrs, int is_normal) {
  int32_t status = tvrt_make(f, out, (int32_t)attrs->ints[0], like->rank, like->dims);
  generator g = seeded(f, attrs);
  for (int64_t i = 0, n = tvrt_count(out); i < n && !status; ++i) {
    double x = is_normal ? attrs->floats[0] + attrs->floats[1] * normal(&g)
                         : attrs->floats[0] + (attrs->floats[1] - attrs->floats[0]) * uniform(&g);
    status = store(f, out, i, x);
  }
  return status;
}

int32_t tvrt_op_RandomNormal(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                             int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  return fill(f, in[0], out[0], attrs, 1);
}

int32_t tvrt_op_RandomUniform(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                              int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  return fill(f, in[0], out[0], attrs, 0);
}

int32_t tvrt_op_Bernoulli(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                          int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  int32_t status = tvrt_make(f, out[0], (int32_t)attrs->ints[0], in[0]->rank, in[0]->dims);
  generator g = seeded(f, attrs);
  for (int64_t i = 0, n = tvrt_count(out[0]); i < n && !status; ++i)
    status = store(f, out[0], i, uniform(&g) < tvrt_number(in[0], i));
  return status;
}

/* Rows of unnormalised log-probabilities [batch, classes] -> sample_size draws each. ints[3]: sample_size. */
int32_t tvrt_op_Multinomial(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                            int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  const int64_t samples = attrs->ints[3], classes = in[0]->dims[1], dims[2] = {in[0]->dims[0], samples};
  int32_t status = tvrt_make(f, out[0], (int32_t)attrs->ints[0], 2, dims);
  generator g = seeded(f, attrs);
  for (int64_t b = 0; b < dims[0] && !status; ++b)
    for (int64_t s = 0; s < samples && !status; ++s) {
      double best = -INFINITY; /* the Gumbel maximum is a draw */
      int64_t chosen = 0;
      for (int64_t c = 0; c < classes; ++c) {
        double x = tvrt_number(in[0], b * classes + c) - log(-log(1 - uniform(&g) * (1 - 0x1p-53)));
        if (x > best) best = x, chosen = c;
      }
      status = store(f, out[0], b * samples + s, (double)chosen);
    }
  return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * Dropout in training: x f32, ratio, training mode -> y = x * mask / (1 - ratio), mask = u >= ratio. u is drawn as
 * ONNX's reference draws it, by the Mersenne Twister MT19937 (Matsumoto, Nishimura 1998), 53 bits a number.
 * ints: has_seed, seed. */
#include <time.h>

#include "routine.h"

enum { MT_SIZE = 624, MT_SHIFT = 397 };

typedef struct {
  uint32_t state[MT_SIZE];
  int next;
} twister;

static void twister_seed(twister* t, uint32_t seed) {
  t->state[0] = seed;
  for (uint32_t k = 1; k < MT_SIZE; ++k) t->state[k] = 1812433253u * (t->state[k - 1] ^ (t->state[k - 1] >> 30)) + k;
  t->next = MT_SIZE;
}

static void twister_refill(twister* t) {
  for (int k = 0; k < MT_SIZE; ++k) {
    uint32_t y = (t->state[k] & 0x80000000u) | (t->state[(k + 1) % MT_SIZE] & 0x7fffffffu);
    t->state[k] = t->state[(k + MT_SHIFT) % MT_SIZE] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  t->next = 0;
}

static uint32_t twister_bits(twister* t) {
  if (t->next == MT_SIZE) twister_refill(t);
  uint32_t y = t->state[t->next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

static double twister_uniform(twister* t) {
  uint32_t high = twister_bits(t) >> 5, low = twister_bits(t) >> 6;
  return ((double)high * 67108864.0 + (double)low) / 9007199254740992.0;
}

int32_t tvrt_op_Dropout(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                        int32_t out_count, const tvrt_attrs* attrs) {
  const tvrt_value* x = in[0];
  uint32_t seed = (uint32_t)attrs->ints[1];
  if (!attrs->ints[0]) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    seed = (uint32_t)now.tv_nsec ^ (uint32_t)now.tv_sec * 2654435761u;
  }
  const int training = in_count > 2 && in[2] && tvrt_number(in[2], 0) != 0;
  const double ratio = training ? tvrt_number(in[1], 0) : 0;
  if (!(ratio >= 0 && ratio < 1))
    return f->host->fail(f, TVRT_BAD_ARGUMENT, "the ratio of Dropout is outside of [0, 1)");
  tvrt_value mask_value, *mask = out_count > 1 && out[1] ? out[1] : &mask_value;
  int32_t status = tvrt_make(f, out[0], TVRT_F32, x->rank, x->dims);
  if (!status) status = tvrt_make(f, mask, TVRT_BOOL, x->rank, x->dims);
  twister t;
  twister_seed(&t, seed);
  for (int64_t i = 0, n = tvrt_count(x); i < n && !status; ++i) {
    uint8_t kept = ratio == 0 || twister_uniform(&t) >= ratio;
    ((uint8_t*)mask->data)[i] = kept;
    ((float*)out[0]->data)[i] = kept ? (float)(((const float*)x->data)[i] / (1 - ratio)) : 0;
  }
  if (mask == &mask_value && mask_value.data && !status) f->host->release(f, mask_value.data);
  return status;
}

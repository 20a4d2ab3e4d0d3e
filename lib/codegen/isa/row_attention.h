/* SPDX-License-Identifier: Apache-2.0
 * y = softmax(scale q k^T + bias, masked) v for stacks of matrices, without the matrix of scores: a run of query rows
 * meets the keys in blocks, and its largest score, the sum of its exponentials and its unscaled result are carried from
 * block to block (Milakov and Gimelshein 2018; Dao et al. 2022, FlashAttention, algorithm 1).
 * Over isa/tile.h, isa/gemm.h (panels) and isa/math.h. Few query rows read keys and values where they lie. */
#ifndef TVC_ISA_ROW_ATTENTION_H
#define TVC_ISA_ROW_ATTENTION_H

#include "gemm.h"
#include "math.h"

enum {
  TV_ATTENTION_ROWS = 48,   /* query rows of a task at most */
  TV_ATTENTION_BLOCK = 128, /* keys of a block */
  TV_ATTENTION_FEW = 3      /* query rows for which laying out keys and values anew costs more than it saves */
};

/* Steps: elements from one outer batch, head, row, column to the next. */
typedef struct tv_attention {
  const float *q, *k, *v, *bias; /* bias: NULL or broadcast by steps of 0, as mask */
  const uint8_t* mask;           /* where 0, the score counts as `masked` */
  float *y, *key_panels, *value_panels, *scratch;
  int64_t outer, heads, rows, keys, depth, width, chunks;
  int64_t q_step[4], k_step[4], v_step[4], y_step[4], bias_step[4], mask_step[4];
  float scale, masked;
  int zero_nan; /* a row whose softmax is NaN counts as 0 */
} tv_attention;

static inline int64_t tv_attention_panels(int64_t columns) { return (columns + 15) / 16; }

/* Floats of a thread's scratch: queries, scores, results, then largest score and sum of each row. */
static inline int64_t tv_attention_wide(int64_t width) { return tv_attention_panels(width) * 16; }

static inline int tv_attention_reads_in_place(const tv_attention* a) {
  return a->rows <= TV_ATTENTION_FEW && a->k_step[3] == 1 && a->v_step[3] == 1;
}

/* Task: one panel of a head's keys or values. */
static __attribute__((noinline, unused)) void tv_attention_pack(const tv_attention* a, int64_t begin, int64_t end) {
  const int64_t keys = tv_attention_panels(a->keys), values = tv_attention_panels(a->width), all = keys + values;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t head = task / all, panel = task % all, i = head / a->heads, j = head % a->heads;
    if (panel < keys) {
      const float* k = a->k + i * a->k_step[0] + j * a->k_step[1] + panel * 16 * a->k_step[2];
      tv_gemm_pack(k, a->depth, a->keys - panel * 16, a->k_step[3], a->k_step[2],
                   a->key_panels + (head * keys + panel) * a->depth * 16);
    } else {
      const int64_t block = panel - keys;
      const float* v = a->v + i * a->v_step[0] + j * a->v_step[1] + block * 16 * a->v_step[3];
      tv_gemm_pack(v, a->keys, a->width - block * 16, a->v_step[2], a->v_step[3],
                   a->value_panels + (head * values + block) * a->keys * 16);
    }
  }
}

/* What a row carries from block to block. */
typedef struct tv_attention_row {
  float most, sum;
} tv_attention_row;

/* Scores of one row at s[0 .. n), room up to a whole vector, become exponentials; gives what the row's result so far is
   to be multiplied with. bias and mask: of the block's first key. */
static inline float tv_attention_softmax(const tv_attention* a, float* s, int64_t n, const float* bias,
                                         const uint8_t* mask, tv_attention_row* row) {
  tv_f32 most = tv_set1(-INFINITY);
  for (int64_t i = 0; i < n; i += TV_LANES) {
    const int64_t left = n - i;
    tv_f32 v = tv_load(s + i);
    if (bias) {
      const tv_f32 b = a->bias_step[3] == 0 ? tv_broadcast(bias)
                       : left >= TV_LANES   ? tv_load(bias + i)
                                            : tv_load_n(bias + i, left);
      v = tv_add(v, b);
    }
    if (mask) {
      uint8_t m[16];
      if (a->mask_step[3] == 0) memset(m, *mask, sizeof m);
      else memcpy(m, mask + i, (size_t)tv_size_min(left, TV_LANES));
      if (left < TV_LANES) memset(m + left, 1, sizeof m - (size_t)left);
      v = tv_select(tv_ne(tv_from_i32(tv_load_u8(m)), tv_zero()), v, tv_set1(a->masked));
    }
    tv_store(s + i, v);
    if (left < TV_LANES) {
      for (int64_t j = n; j < i + TV_LANES; ++j) s[j] = -INFINITY;
      v = tv_load(s + i);
    }
    most = tv_max(most, v);
  }
  const float before = row->most, now = tv_max_lane(most) > before ? tv_max_lane(most) : before;
  const tv_f32 shift = tv_set1(now == -INFINITY ? 0.0f : now); /* -INFINITY - -INFINITY would be NaN */
  tv_f32 sum = tv_zero();
  for (int64_t i = 0; i < n; i += TV_LANES) {
    const tv_f32 e = tv_exp(tv_sub(tv_load(s + i), shift));
    tv_store(s + i, e);
    sum = tv_add(sum, e);
  }
  const float factor = before == now ? 1.0f : before == -INFINITY ? 0.0f : tv_max_lane(tv_exp(tv_set1(before - now)));
  row->most = now;
  row->sum = row->sum * factor + tv_sum(sum);
  return factor;
}

static inline void tv_attention_scale(float* y, int64_t wide, float factor) {
  if (factor == 1.0f) return;
  const tv_f32 f = tv_set1(factor);
  for (int64_t e = 0; e < wide; e += TV_LANES) tv_store(y + e, tv_mul(tv_load(y + e), f));
}

static inline void tv_attention_finish(const tv_attention* a, const float* result, const tv_attention_row* row,
                                       float* y) {
  /* A sum of 0: every score was -INFINITY, and softmax is 0 / 0; no keys at all give an empty sum of products. */
  if (a->keys == 0 || (a->zero_nan && !(row->sum > 0))) {
    memset(y, 0, (size_t)a->width * sizeof(float));
    return;
  }
  const tv_f32 sum = tv_set1(row->sum);
  for (int64_t e = 0; e < a->width; e += TV_LANES) {
    const tv_f32 v = tv_div(tv_load(result + e), sum);
    if (a->width - e >= TV_LANES) tv_store(y + e, v);
    else tv_store_n(y + e, a->width - e, v);
  }
}

/* rows x columns of a product in panels: y = init + x w, x's rows x_row apart, w's panels `w_block` apart. */
static inline void tv_attention_product(const float* x, int64_t x_row, int64_t rows, int64_t inner, const float* w,
                                        int64_t w_block, int64_t blocks, const float* init, int carried, float* y,
                                        int64_t y_row) {
  for (int64_t block = 0; block < blocks; block += TV_TILE_BLOCKS) {
    const int64_t side = tv_size_min(TV_TILE_BLOCKS, blocks - block), most = tv_tile_rows[side - 1];
    const int64_t tiles = (rows + most - 1) / most;
    const tv_tile tile = {.outer = 1,
                          .height = 1,
                          .width = 1,
                          .inner = inner,
                          .w_block = w_block,
                          .init_row = carried ? y_row : 0,
                          .init_block = carried ? 16 : 0,
                          .y_row = y_row,
                          .y_block = 16};
    const float* at[TV_TILE_MAX_ROWS];
    for (int64_t n = 0, row = 0; n < tiles; ++n) {
      const int64_t end = rows * (n + 1) / tiles;
      for (int64_t t = row; t < end; ++t) at[t - row] = x + t * x_row;
      float* to = y + row * y_row + block * 16;
      tv_tiles[side - 1][end - row - 1](&tile, at, w + block * w_block, carried ? to : init, to);
      row = end;
    }
  }
}

static inline void tv_attention_queries(const tv_attention* a, const float* q, int64_t rows, float* to) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t d = 0; d < a->depth; ++d) to[r * a->depth + d] = a->scale * q[r * a->q_step[2] + d * a->q_step[3]];
}

/* Where a head's bias and mask begin, NULL where there is none. */
static inline const float* tv_attention_bias(const tv_attention* a, int64_t i, int64_t j, int64_t row, int64_t key) {
  return a->bias ? a->bias + i * a->bias_step[0] + j * a->bias_step[1] + row * a->bias_step[2] + key * a->bias_step[3]
                 : NULL;
}
static inline const uint8_t* tv_attention_mask(const tv_attention* a, int64_t i, int64_t j, int64_t row, int64_t key) {
  return a->mask ? a->mask + i * a->mask_step[0] + j * a->mask_step[1] + row * a->mask_step[2] + key * a->mask_step[3]
                 : NULL;
}

/* s[t] = q . k[t] for n keys `step` apart. */
static inline void tv_attention_dots(const float* q, const float* k, int64_t step, int64_t depth, int64_t n, float* s) {
  const int64_t whole = depth - depth % TV_LANES;
  int64_t t = 0;
  for (; t + 4 <= n; t += 4) {
    tv_f32 sum[4] = {tv_zero(), tv_zero(), tv_zero(), tv_zero()};
    for (int64_t d = 0; d < whole; d += TV_LANES) {
      const tv_f32 x = tv_load(q + d);
      _Pragma("GCC unroll 4") for (int u = 0; u < 4; ++u) sum[u] = tv_fma(x, tv_load(k + (t + u) * step + d), sum[u]);
    }
    if (whole < depth)
      for (int u = 0; u < 4; ++u)
        sum[u] =
            tv_fma(tv_load_n(q + whole, depth - whole), tv_load_n(k + (t + u) * step + whole, depth - whole), sum[u]);
    for (int u = 0; u < 4; ++u) s[t + u] = tv_sum(sum[u]);
  }
  for (; t < n; ++t) {
    tv_f32 sum = tv_zero();
    for (int64_t d = 0; d < whole; d += TV_LANES) sum = tv_fma(tv_load(q + d), tv_load(k + t * step + d), sum);
    if (whole < depth)
      sum = tv_fma(tv_load_n(q + whole, depth - whole), tv_load_n(k + t * step + whole, depth - whole), sum);
    s[t] = tv_sum(sum);
  }
}

/* y += s v over n rows of v. */
static inline void tv_attention_mix(const float* s, const float* v, int64_t step, int64_t width, int64_t n, float* y) {
  int64_t e = 0;
  for (; e + 4 * TV_LANES <= width; e += 4 * TV_LANES) {
    tv_f32 sum[4];
    _Pragma("GCC unroll 4") for (int u = 0; u < 4; ++u) sum[u] = tv_load(y + e + u * TV_LANES);
    for (int64_t t = 0; t < n; ++t) {
      const tv_f32 p = tv_broadcast(s + t);
      _Pragma("GCC unroll 4") for (int u = 0; u < 4; ++u) sum[u] =
          tv_fma(p, tv_load(v + t * step + e + u * TV_LANES), sum[u]);
    }
    _Pragma("GCC unroll 4") for (int u = 0; u < 4; ++u) tv_store(y + e + u * TV_LANES, sum[u]);
  }
  for (; e < width; e += TV_LANES) {
    const int64_t left = tv_size_min(width - e, TV_LANES);
    tv_f32 sum = tv_load(y + e);
    for (int64_t t = 0; t < n; ++t) sum = tv_fma(tv_broadcast(s + t), tv_load_n(v + t * step + e, left), sum);
    tv_store(y + e, sum);
  }
}

/* A task's rows against all keys; i, j: the batch and the head. */
static inline void tv_attention_rows(const tv_attention* a, int64_t i, int64_t j, int64_t first, int64_t rows,
                                     float* scratch) {
  static const float zeros[16] = {0};
  const int64_t wide = tv_attention_wide(a->width), head = i * a->heads + j, panels = tv_attention_panels(a->keys);
  const int in_place = tv_attention_reads_in_place(a);
  float *q = scratch, *s = q + rows * a->depth, *result = s + rows * TV_ATTENTION_BLOCK;
  tv_attention_row state[TV_ATTENTION_ROWS];
  tv_attention_queries(a, a->q + i * a->q_step[0] + j * a->q_step[1] + first * a->q_step[2], rows, q);
  memset(result, 0, (size_t)(rows * wide) * sizeof(float));
  for (int64_t r = 0; r < rows; ++r) state[r] = (tv_attention_row){-INFINITY, 0};
  const float* k = a->k + i * a->k_step[0] + j * a->k_step[1];
  const float* v = a->v + i * a->v_step[0] + j * a->v_step[1];
  for (int64_t key = 0; key < a->keys; key += TV_ATTENTION_BLOCK) {
    const int64_t n = tv_size_min(TV_ATTENTION_BLOCK, a->keys - key);
    if (!in_place)
      tv_attention_product(q, a->depth, rows, a->depth, a->key_panels + (head * panels + key / 16) * a->depth * 16,
                           a->depth * 16, tv_attention_panels(n), zeros, 0, s, TV_ATTENTION_BLOCK);
    for (int64_t r = 0; r < rows; ++r) {
      float* of_row = s + r * TV_ATTENTION_BLOCK;
      if (in_place) tv_attention_dots(q + r * a->depth, k + key * a->k_step[2], a->k_step[2], a->depth, n, of_row);
      const float factor = tv_attention_softmax(a, of_row, n, tv_attention_bias(a, i, j, first + r, key),
                                                tv_attention_mask(a, i, j, first + r, key), &state[r]);
      tv_attention_scale(result + r * wide, wide, factor);
      if (in_place) tv_attention_mix(of_row, v + key * a->v_step[2], a->v_step[2], a->width, n, result + r * wide);
    }
    if (!in_place)
      tv_attention_product(s, TV_ATTENTION_BLOCK, rows, n, a->value_panels + head * (wide * a->keys) + key * 16,
                           a->keys * 16, wide / 16, zeros, 1, result, wide);
  }
  float* y = a->y + i * a->y_step[0] + j * a->y_step[1] + first * a->y_step[2];
  for (int64_t r = 0; r < rows; ++r) tv_attention_finish(a, result + r * wide, &state[r], y + r * a->y_step[2]);
}

/* Task: a run of query rows of one head. */
static __attribute__((noinline, unused)) void tv_attention_run(const tv_attention* a, int64_t begin, int64_t end,
                                                               int32_t thread) {
  const int64_t wide = tv_attention_wide(a->width);
  float* scratch = a->scratch + thread * TV_ATTENTION_ROWS * (a->depth + TV_ATTENTION_BLOCK + wide);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t chunk = task % a->chunks, head = task / a->chunks;
    const int64_t first = a->rows * chunk / a->chunks, last = a->rows * (chunk + 1) / a->chunks;
    if (first < last) tv_attention_rows(a, head / a->heads, head % a->heads, first, last - first, scratch);
  }
}

#endif

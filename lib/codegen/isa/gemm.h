/* SPDX-License-Identifier: Apache-2.0
 * Y = A W + bias, A row by row, W in panels [column blocks][depth][16], over isa/tile.h; batches with broadcasting.
 * A task is a run of rows of one batch times a part of the column blocks. */
#ifndef TVC_ISA_GEMM_H
#define TVC_ISA_GEMM_H

#include "tile.h"

#define TV_GEMM_BATCH 6

typedef struct tv_gemm {
  const float *a, *w, *bias; /* bias: [bias_block ? columns : 16], zeros behind the last column */
  float *y, *scratch;
  int64_t scratch_floats; /* of one thread: rows of A laid out anew; 0: A's rows are read in place */
  int64_t rows, depth, columns, parts, chunks, chunk;
  int64_t a_row, a_step, bias_block; /* from one row, one k to the next */
  float low, high;
  int clip;
  int64_t batch[TV_GEMM_BATCH], batch_a[TV_GEMM_BATCH], batch_w[TV_GEMM_BATCH]; /* sizes (1: none), steps */
} tv_gemm;

/* Computes in place on a part of Y, rows `step` apart; at: the place of its first element in all of Y. */
typedef void (*tv_gemm_epilogue)(const void* args, float* y, int64_t at, int64_t column, int64_t columns, int64_t rows,
                                 int64_t step);

enum { TV_GEMM_RUN = 48, TV_GEMM_WEIGHTS = 96 << 10 }; /* rows between epilogues; floats of W that stay in L2 */

/* Blocks [0, blocks) of the panel at `block`, of `columns` columns at `from`: row k is step * k away, column j
   column_step * j. */
static inline void tv_gemm_pack(const float* from, int64_t depth, int64_t columns, int64_t step, int64_t column_step,
                                float* to) {
  const int64_t width = tv_size_min(columns, 16);
  if (width < 16) memset(to, 0, (size_t)(depth * 16) * sizeof(float));
  if (column_step == 1) {
    for (int64_t k = 0; k < depth; ++k) memcpy(to + k * 16, from + k * step, (size_t)width * sizeof(float));
  } else {
    for (int64_t j = 0; j < width; ++j)
      for (int64_t k = 0; k < depth; ++k) to[k * 16 + j] = from[k * step + j * column_step];
  }
}

/* A part of the output: rows [first, last) of a batch, blocks of columns; a: its batch's first row, or what stands for
   row a_first. */
typedef struct tv_gemm_part {
  const float *a, *w;
  float* y;
  int64_t first, last, a_row, block, blocks, columns;
} tv_gemm_part;

static inline void tv_gemm_rows(const tv_gemm* g, const tv_gemm_part* p, const tv_tile* tile, int64_t first,
                                int64_t last, int64_t k, const float* init, float* y) {
  const int64_t most = tv_tile_rows[p->blocks - 1], count = last - first, tiles = (count + most - 1) / most;
  const int edge = p->columns < p->blocks * 16;
  const float* rows[TV_TILE_MAX_ROWS];
  float buffer[TV_TILE_MAX_ROWS * TV_TILE_BLOCKS * 16];
  int64_t at = first;
  for (int64_t n = 0; n < tiles; ++n) {
    const int64_t end = first + count * (n + 1) / tiles, size = end - at;
    for (int64_t t = 0; t < size; ++t) rows[t] = p->a + (at - p->first + t) * p->a_row + k;
    const tv_tile_fn compute = tv_tiles[p->blocks - 1][size - 1];
    float* to = y + at * g->columns;
    if (edge) {
      compute(tile, rows, p->w + k * 16, init, buffer);
      for (int64_t t = 0; t < size; ++t)
        memcpy(to + t * g->columns, buffer + t * p->blocks * 16, (size_t)p->columns * sizeof(float));
    } else {
      compute(tile, rows, p->w + k * 16, init + at * tile->init_row, to);
    }
    at = end;
  }
}

static inline void tv_gemm_run_part(const tv_gemm* g, const void* args, tv_gemm_epilogue epilogue,
                                    const tv_gemm_part* p) {
  const int edge = p->columns < p->blocks * 16;
  const int64_t most = edge ? tv_size_max(g->depth, 1) : TV_GEMM_WEIGHTS / (16 * p->blocks);
  float* y = p->y + p->block * 16;
  int64_t done = 0;
  do {
    const int64_t depth = tv_size_min(most, g->depth - done);
    const int last = done + depth == g->depth;
    const tv_tile tile = {.outer = 1,
                          .height = 1,
                          .width = 1,
                          .inner = depth,
                          .w_block = g->depth * 16,
                          .init_row = done ? g->columns : 0,
                          .init_block = done ? 16 : g->bias_block,
                          .y_row = edge ? p->blocks * 16 : g->columns,
                          .y_block = 16,
                          .low = g->low,
                          .high = g->high,
                          .clip = g->clip && last};
    const float* init = done ? y : g->bias + (g->bias_block ? p->block * 16 : 0);
    const int64_t count = p->last - p->first, runs = (count + TV_GEMM_RUN - 1) / TV_GEMM_RUN;
    for (int64_t run = 0; run < runs; ++run) {
      const int64_t row = p->first + count * run / runs, end = p->first + count * (run + 1) / runs;
      tv_gemm_rows(g, p, &tile, row, end, done, init, y);
      if (epilogue && last)
        epilogue(args, y + row * g->columns, y + row * g->columns - g->y, p->block * 16, p->columns, end - row,
                 g->columns);
    }
    done += depth;
  } while (done < g->depth);
}

static __attribute__((noinline, unused)) void tv_gemm_run(const tv_gemm* g, const void* args, tv_gemm_epilogue epilogue,
                                                          int64_t begin, int64_t end, int32_t thread) {
  float* scratch = g->scratch + thread * g->scratch_floats;
  const int64_t blocks = (g->columns + 15) / 16;
  int64_t held = -1;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t part = task % g->parts, run = task / g->parts, chunk = run % g->chunks, batch = run / g->chunks;
    int64_t a = 0, w = 0, rest = batch;
    for (int d = TV_GEMM_BATCH - 1; d >= 0; --d) {
      const int64_t digit = rest % g->batch[d];
      rest /= g->batch[d];
      a += digit * g->batch_a[d];
      w += digit * g->batch_w[d];
    }
    tv_gemm_part p = {.first = chunk * g->chunk, .last = tv_size_min(chunk * g->chunk + g->chunk, g->rows)};
    p.block = blocks * part / g->parts;
    p.blocks = blocks * (part + 1) / g->parts - p.block;
    p.columns = tv_size_min(p.blocks * 16, g->columns - p.block * 16);
    p.w = g->w + w + p.block * g->depth * 16;
    p.y = g->y + batch * g->rows * g->columns;
    p.a = g->a + a + p.first * g->a_row;
    p.a_row = g->a_row;
    if (p.first >= p.last) continue;
    if (g->scratch_floats != 0) {
      if (held != run)
        for (int64_t r = 0; r < p.last - p.first; ++r)
          for (int64_t k = 0; k < g->depth; ++k) scratch[r * g->depth + k] = p.a[r * g->a_row + k * g->a_step];
      held = run;
      p.a = scratch;
      p.a_row = g->depth;
    }
    tv_gemm_run_part(g, args, epilogue, &p);
  }
}

#endif

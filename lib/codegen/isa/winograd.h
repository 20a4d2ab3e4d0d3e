/* SPDX-License-Identifier: Apache-2.0
 * 3 x 3 convolution of stride 1 by F(2 x 2, 3 x 3) (Winograd; Lavin and Gray, arXiv:1509.09308): a tile of 2 x 2
 * outputs from 4 x 4 inputs takes 16 products a channel pair instead of 36, y = A' [sum over i of (G w G') (B' x B)] A,
 * the sums being 16 products of matrices over isa/tile.h. Layouts and fields as in isa/conv.h; chunks count tiles. */
#ifndef TVC_ISA_WINOGRAD_H
#define TVC_ISA_WINOGRAD_H

#include "conv.h"

enum { TV_WINOGRAD_RUN = 24 }; /* tiles whose products are held before they are turned into outputs */

/* G w G' for one block of 16 outputs: w [planes * 9][16 inputs][16] as packed, u [16][blocks][planes * 16][16]. */
static inline void tv_winograd_weights(const float* w, float* u, int64_t planes, int64_t plane_step) {
  const tv_f32 half = tv_set1(0.5f);
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t i = 0; i < 16; ++i)
      for (int64_t v = 0; v < 16; v += TV_LANES) {
        tv_f32 t[4][3];
#pragma GCC unroll 3
        for (int c = 0; c < 3; ++c) {
          const float* at = w + ((p * 9 + c) * 16 + i) * 16 + v;
          const tv_f32 a = tv_load(at), b = tv_load(at + 3 * 256), d = tv_load(at + 6 * 256), s = tv_add(a, d);
          t[0][c] = a, t[1][c] = tv_mul(half, tv_add(s, b)), t[2][c] = tv_mul(half, tv_sub(s, b)), t[3][c] = d;
        }
#pragma GCC unroll 4
        for (int r = 0; r < 4; ++r) {
          float* to = u + r * 4 * plane_step + (p * 16 + i) * 16 + v;
          const tv_f32 s = tv_add(t[r][0], t[r][2]);
          tv_store(to, t[r][0]);
          tv_store(to + plane_step, tv_mul(half, tv_add(s, t[r][1])));
          tv_store(to + 2 * plane_step, tv_mul(half, tv_sub(s, t[r][1])));
          tv_store(to + 3 * plane_step, t[r][2]);
        }
      }
}

/* B' x B of 16 channels; x: 4 x 4 pixels, rows `pitch` apart; v: 16 places `step` apart. */
static inline void tv_winograd_input(const float* x, int64_t pitch, float* to, int64_t step) {
  for (int64_t v = 0; v < 16; v += TV_LANES) {
    tv_f32 t[4][4];
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const float* at = x + c * 16 + v;
      const tv_f32 a = tv_load(at), b = tv_load(at + pitch), d = tv_load(at + 2 * pitch), e = tv_load(at + 3 * pitch);
      t[0][c] = tv_sub(a, d), t[1][c] = tv_add(b, d), t[2][c] = tv_sub(d, b), t[3][c] = tv_sub(b, e);
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      float* at = to + r * 4 * step + v;
      tv_store(at, tv_sub(t[r][0], t[r][2]));
      tv_store(at + step, tv_add(t[r][1], t[r][2]));
      tv_store(at + 2 * step, tv_sub(t[r][2], t[r][1]));
      tv_store(at + 3 * step, tv_sub(t[r][1], t[r][3]));
    }
  }
}

/* Input tiles [first, last) as [16][tiles][channels]; those at the border through a copy with zeros around. */
static inline void tv_winograd_inputs(const tv_conv* c, int64_t image, int64_t group, int64_t first, int64_t last,
                                      float* to) {
  const int64_t across = (c->out_width + 1) / 2, depth = c->planes * 16, step = (last - first) * depth;
  const int64_t plane = c->height * c->width * 16, pitch = c->width * 16;
  const float* x = c->x + (image * c->groups + group) * c->planes * plane;
  int64_t ty = first / across, tx = first % across;
  for (int64_t t = first; t < last; ++t) {
    const int64_t y0 = ty * 2 - c->top, x0 = tx * 2 - c->left;
    const int inside = y0 >= 0 && x0 >= 0 && y0 + 4 <= c->height && x0 + 4 <= c->width;
    for (int64_t p = 0; p < c->planes; ++p) {
      float* here = to + (t - first) * depth + p * 16;
      if (inside) {
        tv_winograd_input(x + p * plane + y0 * pitch + x0 * 16, pitch, here, step);
      } else {
        float border[16 * 16];
        for (int64_t r = 0; r < 16; ++r) {
          const int64_t row = y0 + r / 4, column = x0 + r % 4;
          if (row >= 0 && row < c->height && column >= 0 && column < c->width)
            memcpy(border + r * 16, x + p * plane + row * pitch + column * 16, 16 * sizeof(float));
          else memset(border + r * 16, 0, 16 * sizeof(float));
        }
        tv_winograd_input(border, 64, here, step);
      }
    }
    if (++tx == across) tx = 0, ++ty;
  }
}

/* A' m A of one tile and block, with bias and bounds; m: 16 places `step` apart; rows, columns: 1 at the far border. */
static inline void tv_winograd_output(const tv_conv* c, const float* m, int64_t step, const float* bias, float* y,
                                      int64_t rows, int64_t columns) {
  for (int64_t v = 0; v < 16; v += TV_LANES) {
    const tv_f32 b = tv_load(bias + v);
    tv_f32 t[2][4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const float* at = m + k * step + v;
      const tv_f32 m0 = tv_load(at), m1 = tv_load(at + 4 * step), m2 = tv_load(at + 8 * step),
                   m3 = tv_load(at + 12 * step);
      t[0][k] = tv_add(tv_add(m0, m1), m2), t[1][k] = tv_sub(tv_sub(m1, m2), m3);
    }
#pragma GCC unroll 2
    for (int r = 0; r < 2; ++r) {
      tv_f32 left = tv_add(b, tv_add(tv_add(t[r][0], t[r][1]), t[r][2]));
      tv_f32 right = tv_add(b, tv_sub(tv_sub(t[r][1], t[r][2]), t[r][3]));
      if (c->clip) {
        left = tv_min(tv_set1(c->high), tv_max(tv_set1(c->low), left));
        right = tv_min(tv_set1(c->high), tv_max(tv_set1(c->low), right));
      }
      if (r < rows) {
        tv_store(y + r * c->out_width * 16 + v, left);
        if (columns > 1) tv_store(y + r * c->out_width * 16 + 16 + v, right);
      }
    }
  }
}

/* Outputs of tiles [first, last) of a part, then its epilogue row by row. */
static inline void tv_winograd_outputs(const tv_conv* c, const void* args, tv_epilogue epilogue, const tv_span* s,
                                       const float* m) {
  const int64_t across = (c->out_width + 1) / 2, plane = c->out_height * c->out_width * 16;
  const int64_t step = (s->last - s->first) * s->blocks * 16;
  float* y = c->y + (s->image * c->groups * c->blocks + s->block) * plane;
  for (int64_t first = s->first; first < s->last;) {
    const int64_t ty = first / across, tx = first % across, count = tv_size_min(across - tx, s->last - first);
    const int64_t rows = tv_size_min(2, c->out_height - ty * 2), pixels = tv_size_min(count * 2, c->out_width - tx * 2);
    for (int64_t b = 0; b < s->blocks; ++b) {
      float* row = y + b * plane + (ty * 2 * c->out_width + tx * 2) * 16;
      for (int64_t t = 0; t < count; ++t)
        tv_winograd_output(c, m + ((first - s->first + t) * s->blocks + b) * 16, step, c->bias + (s->block + b) * 16,
                           row + t * 32, rows, pixels - t * 2);
      if (epilogue)
        for (int64_t r = 0; r < rows; ++r)
          epilogue(args, row + r * c->out_width * 16, row + r * c->out_width * 16 - c->y, s->block + b, pixels);
    }
    first += count;
  }
}

/* The 16 products of tiles [s->first, s->last), whose inputs start at x, `x_step` floats from one product to the next.
 */
static inline void tv_winograd_products(const tv_conv* c, const tv_span* s, const float* x, int64_t x_step,
                                        const float* u, int64_t u_step, float* m) {
  static const float zeros[16] = {0};
  const int64_t depth = c->planes * 16, count = s->last - s->first, most = tv_tile_rows[s->blocks - 1];
  const int64_t tiles = (count + most - 1) / most;
  const tv_tile tile = {.outer = 1,
                        .height = 1,
                        .width = 1,
                        .inner = depth,
                        .w_block = depth * 16,
                        .y_row = s->blocks * 16,
                        .y_block = 16};
  const float* rows[TV_TILE_MAX_ROWS];
  for (int64_t k = 0; k < 16; ++k)
    for (int64_t n = 0; n < tiles; ++n) {
      const int64_t at = count * n / tiles, size = count * (n + 1) / tiles - at;
      for (int64_t t = 0; t < size; ++t) rows[t] = x + k * x_step + (at + t) * depth;
      tv_tiles[s->blocks - 1][size - 1](&tile, rows, u + k * u_step, zeros, m + (k * count + at) * s->blocks * 16);
    }
}

static __attribute__((noinline, unused)) void tv_winograd_run(const tv_conv* c, const void* args, tv_epilogue epilogue,
                                                              int64_t begin, int64_t end, int32_t thread) {
  const int64_t depth = c->planes * 16, u_step = c->groups * c->blocks * depth * 16;
  const int64_t total = ((c->out_height + 1) / 2) * ((c->out_width + 1) / 2);
  float* m = c->scratch + thread * c->scratch_floats;
  float* x = m + 16 * TV_WINOGRAD_RUN * TV_TILE_BLOCKS * 16;
  int64_t held = -1;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t part = task % c->parts, input = task / c->parts, group = input % c->groups;
    const int64_t chunk = input / c->groups % c->chunks, image = input / c->groups / c->chunks;
    const int64_t first = c->blocks * part / c->parts, last = c->blocks * (part + 1) / c->parts;
    const int64_t from = chunk * c->chunk, to = tv_size_min(from + c->chunk, total);
    if (from >= to) continue;
    if (held != input) tv_winograd_inputs(c, image, group, from, to, x);
    held = input;
    tv_span s = {image, group * c->blocks + first, last - first, from, 0};
    const int64_t runs = (to - from + TV_WINOGRAD_RUN - 1) / TV_WINOGRAD_RUN;
    for (int64_t run = 0; run < runs; ++run, s.first = s.last) {
      s.last = from + (to - from) * (run + 1) / runs;
      tv_winograd_products(c, &s, x + (s.first - from) * depth, (to - from) * depth, c->w + s.block * depth * 16,
                           u_step, m);
      tv_winograd_outputs(c, args, epilogue, &s, m);
    }
  }
}

#endif

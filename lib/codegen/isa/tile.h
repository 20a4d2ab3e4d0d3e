/* SPDX-License-Identifier: Apache-2.0
 * The inner kernel of contractions: a tile of T rows (pixels, rows of A) by B blocks of 16 columns (output channels).
 *     y[t][16 b + j] = init + sum over k of x[t][k] * w[b][k][j]
 * k runs over four nested loops whose places in x are outer * step + ...; w is read in the loops' order. Rows of x are
 * free pointers, so that a tile may cross the end of an image row. */
#ifndef TVC_ISA_TILE_H
#define TVC_ISA_TILE_H

typedef struct tv_tile {
  int64_t outer, outer_step;   /* blocks of input channels */
  int64_t height, height_step; /* taps, where they do not lie side by side */
  int64_t width, width_step;
  int64_t inner;   /* neighbours in x */
  int64_t w_block; /* from one block of columns to the next in w */
  int64_t init_row, init_block;
  int64_t y_row, y_block;
  float low, high; /* the result's bounds, if `clip` */
  int clip;
} tv_tile;

#define TV_TILE_VECTORS (16 / TV_LANES)

#define TV_TILE(T, B)                                                                                              \
  static __attribute__((noinline, unused)) void tv_tile_##T##x##B(const tv_tile* p, const float* const* rows,      \
                                                                  const float* w, const float* init, float* y) {   \
    enum { V = B * TV_TILE_VECTORS };                                                                              \
    tv_f32 acc[T][V];                                                                                              \
    const float* x[T];                                                                                             \
    _Pragma("GCC unroll 16") for (int t = 0; t < T; ++t) {                                                         \
      x[t] = rows[t];                                                                                              \
      _Pragma("GCC unroll 16") for (int v = 0; v < V; ++v) acc[t][v] =                                             \
          tv_load(init + t * p->init_row + v / TV_TILE_VECTORS * p->init_block + v % TV_TILE_VECTORS * TV_LANES);  \
    }                                                                                                              \
    const int64_t w_block = p->w_block, inner = p->inner;                                                          \
    for (int64_t o = 0; o < p->outer; ++o)                                                                         \
      for (int64_t h = 0; h < p->height; ++h)                                                                      \
        for (int64_t u = 0; u < p->width; ++u) {                                                                   \
          const int64_t at = o * p->outer_step + h * p->height_step + u * p->width_step;                           \
          for (int64_t k = at; k < at + inner; ++k, w += 16) {                                                     \
            tv_f32 c[V];                                                                                           \
            _Pragma("GCC unroll 16") for (int v = 0; v < V; ++v) c[v] =                                            \
                tv_load(w + v / TV_TILE_VECTORS * w_block + v % TV_TILE_VECTORS * TV_LANES);                       \
            _Pragma("GCC unroll 16") for (int t = 0; t < T; ++t) {                                                 \
              const tv_f32 a = tv_broadcast(x[t] + k);                                                             \
              _Pragma("GCC unroll 16") for (int v = 0; v < V; ++v) acc[t][v] = tv_fma(a, c[v], acc[t][v]);         \
            }                                                                                                      \
          }                                                                                                        \
        }                                                                                                          \
    if (p->clip) {                                                                                                 \
      const tv_f32 low = tv_set1(p->low), high = tv_set1(p->high);                                                 \
      _Pragma("GCC unroll 16") for (int t = 0; t < T; ++t) _Pragma("GCC unroll 16") for (int v = 0; v < V; ++v)    \
          acc[t][v] = tv_min(high, tv_max(low, acc[t][v]));                                                        \
    }                                                                                                              \
    _Pragma("GCC unroll 16") for (int t = 0; t < T; ++t) _Pragma("GCC unroll 16") for (int v = 0; v < V; ++v)      \
        tv_store(y + t * p->y_row + v / TV_TILE_VECTORS * p->y_block + v % TV_TILE_VECTORS * TV_LANES, acc[t][v]); \
  }

typedef void (*tv_tile_fn)(const tv_tile*, const float* const*, const float*, const float*, float*);

/* TV_TILE_BLOCKS: blocks of columns side by side that the registers hold; tv_tile_rows[B - 1]: rows with B blocks. */
#define TV_TILES_6(B) TV_TILE(1, B) TV_TILE(2, B) TV_TILE(3, B) TV_TILE(4, B) TV_TILE(5, B) TV_TILE(6, B)
#if TV_LANES == 16
#define TV_TILE_BLOCKS 4
#define TV_TILE_MAX_ROWS 12
TV_TILES_6(1)
TV_TILES_6(2)
TV_TILES_6(3)
TV_TILES_6(4)
TV_TILE(7, 1)
TV_TILE(8, 1)
TV_TILE(9, 1)
TV_TILE(10, 1)
TV_TILE(11, 1)
TV_TILE(12, 1)
TV_TILE(7, 2)
TV_TILE(8, 2)
static const int64_t tv_tile_rows[TV_TILE_BLOCKS] __attribute__((unused)) = {12, 8, 6, 6};
static const tv_tile_fn tv_tiles[TV_TILE_BLOCKS][TV_TILE_MAX_ROWS] __attribute__((unused)) = {
    {tv_tile_1x1, tv_tile_2x1, tv_tile_3x1, tv_tile_4x1, tv_tile_5x1, tv_tile_6x1, tv_tile_7x1, tv_tile_8x1,
     tv_tile_9x1, tv_tile_10x1, tv_tile_11x1, tv_tile_12x1},
    {tv_tile_1x2, tv_tile_2x2, tv_tile_3x2, tv_tile_4x2, tv_tile_5x2, tv_tile_6x2, tv_tile_7x2, tv_tile_8x2},
    {tv_tile_1x3, tv_tile_2x3, tv_tile_3x3, tv_tile_4x3, tv_tile_5x3, tv_tile_6x3},
    {tv_tile_1x4, tv_tile_2x4, tv_tile_3x4, tv_tile_4x4, tv_tile_5x4, tv_tile_6x4}};
#else
#define TV_TILE_BLOCKS 1
#define TV_TILE_MAX_ROWS 6
TV_TILES_6(1)
static const int64_t tv_tile_rows[TV_TILE_BLOCKS] __attribute__((unused)) = {6};
static const tv_tile_fn tv_tiles[TV_TILE_BLOCKS][TV_TILE_MAX_ROWS]
    __attribute__((unused)) = {{tv_tile_1x1, tv_tile_2x1, tv_tile_3x1, tv_tile_4x1, tv_tile_5x1, tv_tile_6x1}};
#endif

#endif

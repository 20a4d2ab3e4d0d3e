/* SPDX-License-Identifier: Apache-2.0
 * Dense and grouped convolution into the blocked layout [N, C/16, H, W, 16], over isa/tile.h.
 * A task is a run of output pixels of one image times a part of a group's output blocks. The input that the run reads
 * is copied with its padding into the thread's scratch, unless there is none: whole rows, or columns of rows if the run
 * lies in one row. Each thread copies a run once for all its parts. x: planes of `pixel` floats a pixel: blocks of 16 channels, or single channels of a planar input. */
#ifndef TVC_ISA_CONV_H
#define TVC_ISA_CONV_H

#include "tile.h"

typedef struct tv_conv {
  const float *x, *w, *bias; /* w: [blocks][planes of a group][kernel][pixel][16]; bias: [blocks][16] */
  float *y, *scratch;
  int64_t scratch_floats;                /* of one thread; 0: no padding, no copy */
  int64_t groups, planes, blocks, parts; /* of one group; parts of its blocks */
  int64_t pixel, height, width, out_height, out_width;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, top, left;
  int64_t chunks, chunk, pieces; /* runs of output pixels; pieces: so many in each row, 0: runs go on over rows */
  int64_t y_height, y_width, y_step_h, y_step_w, y_top, y_left, y_channels,
      y_phases; /* where outputs lie: step 1, or a
transposed phase; y_channels: of a planar output, else 0; y_phases: so many phases lie in one block, [phase][channel] */
  float low, high;
  int clip, full; /* full: the epilogue has operands of the output's shape */
} tv_conv;

/* Computes on `count` pixels of one block in place; at: their place in the whole output. */
typedef void (*tv_epilogue)(const void* args, float* y, int64_t at, int64_t block, int64_t count);

enum { TV_CONV_RUN = 96, TV_CONV_WEIGHTS = 96 << 10 }; /* pixels between epilogues; floats of w that stay in L2 */

/* Whether outputs go to their places one by one. */
static inline int tv_conv_scatters(const tv_conv* c) {
  return c->y_step_h != 1 || c->y_step_w != 1 || c->y_channels != 0;
}

typedef struct tv_window {
  const float* x; /* the first tap of output pixel (row0, column0) */
  int64_t row0, column0, plane, pitch;
} tv_window;

/* Input columns [first, first + pitch), some of which may lie outside. */
static inline void tv_conv_copy_row(const tv_conv* c, const float* from, float* to, int64_t first, int64_t pitch,
                                    int inside) {
  const int64_t p = c->pixel, before = tv_size_min(tv_size_max(-first, 0), pitch), skipped = tv_size_max(first, 0);
  const int64_t count = inside ? tv_size_max(tv_size_min(c->width - skipped, pitch - before), 0) : 0;
  memset(to, 0, (size_t)(before * p) * sizeof(float));
  memcpy(to + before * p, from + skipped * p, (size_t)(count * p) * sizeof(float));
  memset(to + (before + count) * p, 0, (size_t)((pitch - before - count) * p) * sizeof(float));
}

/* What output pixels [begin, end) of one image and group read. */
static inline tv_window tv_conv_window(const tv_conv* c, int64_t image, int64_t group, int64_t begin, int64_t end,
                                       float* scratch, int copy) {
  const int64_t row0 = begin / c->out_width, row1 = (end - 1) / c->out_width + 1, one_row = row1 - row0 == 1;
  const int64_t column0 = one_row ? begin % c->out_width : 0, columns = one_row ? end - begin : c->out_width;
  const int64_t plane = c->height * c->width * c->pixel, first = row0 * c->stride_h - c->top;
  const float* x = c->x + (image * c->groups + group) * c->planes * plane;
  if (c->scratch_floats == 0) {
    const tv_window direct = {x + (first * c->width - c->left) * c->pixel, row0, 0, plane, c->width * c->pixel};
    return direct;
  }
  const int64_t rows = (row1 - row0 - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h + 1;
  const int64_t pitch = (columns - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1;
  const tv_window padded = {scratch, row0, column0, rows * pitch * c->pixel, pitch * c->pixel};
  if (!copy) return padded;
  for (int64_t i = 0; i < c->planes; ++i)
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = first + r;
      const int inside = at >= 0 && at < c->height;
      tv_conv_copy_row(c, inside ? x + i * plane + at * c->width * c->pixel : x,
                       scratch + (i * rows + r) * padded.pitch, column0 * c->stride_w - c->left, pitch, inside);
    }
  return padded;
}

/* One block of a tile to the planes of its channels. */
static inline void tv_conv_scatter_planar(const tv_conv* c, const float* tile, int64_t image, int64_t block,
                                          int64_t pixel, int64_t count) {
  const int64_t plane = c->y_height * c->y_width, lanes = tv_size_min((c->y_channels * c->y_phases) - block * 16, 16);
  float* y = c->y + (image * c->y_channels + block * 16) * plane;
  int64_t row = pixel / c->out_width, column = pixel % c->out_width, at[16];
  for (int64_t i = 0; i < lanes; ++i) {
    const int64_t phase = c->y_phases > 1 ? i / c->y_channels : 0, channel = i - phase * c->y_channels;
    at[i] = channel * plane + phase / c->y_step_w * c->y_width + phase % c->y_step_w;
  }
  for (int64_t t = 0; t < count; ++t) {
    float* to = y + (row * c->y_step_h + c->y_top) * c->y_width + column * c->y_step_w + c->y_left;
    for (int64_t i = 0; i < lanes; ++i) to[at[i]] = tile[t * 16 + i];
    if (++column == c->out_width) column = 0, ++row;
  }
}

/* A tile [blocks][TV_TILE_MAX_ROWS][16] to its pixels' places between those of the other phases. */
static inline void tv_conv_scatter(const tv_conv* c, const void* args, tv_epilogue epilogue, float* tile, int64_t image,
                                   int64_t block, int64_t blocks, int64_t pixel, int64_t count) {
  for (int64_t b = 0; b < blocks; ++b, tile += TV_TILE_MAX_ROWS * 16) {
    if (epilogue && !c->full) epilogue(args, tile, 0, block + b, count);
    if (c->y_channels != 0) {
      tv_conv_scatter_planar(c, tile, image, block + b, pixel, count);
      continue;
    }
    float* plane = c->y + (image * c->groups * c->blocks + block + b) * c->y_height * c->y_width * 16;
    int64_t row = pixel / c->out_width, column = pixel % c->out_width;
    for (int64_t t = 0; t < count; ++t) {
      float* to = plane + ((row * c->y_step_h + c->y_top) * c->y_width + column * c->y_step_w + c->y_left) * 16;
#pragma GCC unroll 2
      for (int64_t v = 0; v < 16; v += TV_LANES) tv_store(to + v, tv_load(tile + t * 16 + v));
      if (epilogue && c->full) epilogue(args, to, to - c->y, block + b, 1);
      if (++column == c->out_width) column = 0, ++row;
    }
  }
}

typedef struct tv_span {
  int64_t image, block, blocks, first, last; /* output blocks, output pixels */
} tv_span;

/* Pixels [first, last) of a span over `planes` input planes; init: bias, or the sum so far. */
static inline void tv_conv_span(const tv_conv* c, const void* args, tv_epilogue epilogue, const tv_window* window,
                                const tv_tile* tile, const tv_span* s, const float* w, const float* init, float* y) {
  const int64_t most = tv_tile_rows[s->blocks - 1], count = s->last - s->first, tiles = (count + most - 1) / most;
  const int scatter = tv_conv_scatters(c);
  int64_t row = s->first / c->out_width, column = s->first % c->out_width, at = s->first;
  const float* rows[TV_TILE_MAX_ROWS];
  float buffer[TV_TILE_MAX_ROWS * TV_TILE_BLOCKS * 16];
  for (int64_t n = 0; n < tiles; ++n) {
    const int64_t end = s->first + count * (n + 1) / tiles, size = end - at;
    for (int64_t t = 0; t < size; ++t) {
      rows[t] = window->x + (row - window->row0) * c->stride_h * window->pitch +
                (column - window->column0) * c->stride_w * c->pixel;
      if (++column == c->out_width) column = 0, ++row;
    }
    const tv_tile_fn compute = tv_tiles[s->blocks - 1][size - 1];
    if (scatter) {
      compute(tile, rows, w, init, buffer);
      tv_conv_scatter(c, args, epilogue, buffer, s->image, s->block, s->blocks, at, size);
    } else {
      compute(tile, rows, w, init + at * tile->init_row, y + at * 16);
    }
    at = end;
  }
}

static inline void tv_conv_part(const tv_conv* c, const void* args, tv_epilogue epilogue, const tv_window* window,
                                const tv_span* whole) {
  const int64_t taps = c->kernel_h * c->kernel_w * c->pixel, plane = c->out_height * c->out_width * 16;
  const int scatter = tv_conv_scatters(c), side = c->dilation_w == 1;
  const float* w = c->w + whole->block * c->planes * taps * 16;
  float* y = c->y + (whole->image * c->groups * c->blocks + whole->block) * plane;
  const int64_t most = scatter ? c->planes : tv_size_max(TV_CONV_WEIGHTS / (taps * 16 * whole->blocks), 1);
  int64_t done = 0;
  do {
    const int64_t planes = tv_size_min(most, c->planes - done);
    const int last = done + planes == c->planes;
    const tv_tile tile = {.outer = planes,
                          .outer_step = window->plane,
                          .height = c->kernel_h,
                          .height_step = c->dilation_h * window->pitch,
                          .width = side ? 1 : c->kernel_w,
                          .width_step = c->dilation_w * c->pixel,
                          .inner = side ? c->kernel_w * c->pixel : c->pixel,
                          .w_block = c->planes * taps * 16,
                          .init_row = done ? 16 : 0,
                          .init_block = done ? plane : 16,
                          .y_row = 16,
                          .y_block = scatter ? TV_TILE_MAX_ROWS * 16 : plane,
                          .low = c->low,
                          .high = c->high,
                          .clip = c->clip && last};
    tv_window here = *window;
    here.x += done * window->plane;
    tv_span s = *whole;
    const int64_t count = whole->last - whole->first, runs = (count + TV_CONV_RUN - 1) / TV_CONV_RUN;
    for (int64_t run = 0; run < runs; ++run, s.first = s.last) {
      s.last = whole->first + count * (run + 1) / runs;
      tv_conv_span(c, args, epilogue, &here, &tile, &s, w + done * taps * 16, done ? y : c->bias + whole->block * 16,
                   y);
      if (epilogue && last && !scatter)
        for (int64_t b = 0; b < s.blocks; ++b)
          epilogue(args, y + b * plane + s.first * 16, (y - c->y) + b * plane + s.first * 16, s.block + b,
                   s.last - s.first);
    }
    done += planes;
  } while (done < c->planes);
}

static __attribute__((noinline, unused)) void tv_conv_run(const tv_conv* c, const void* args, tv_epilogue epilogue,
                                                          int64_t begin, int64_t end, int32_t thread) {
  float* scratch = c->scratch + thread * c->scratch_floats;
  const int64_t pixels = c->out_height * c->out_width;
  int64_t held = -1;
  for (int64_t task = begin; task < end; ++task) {
    const int64_t part = task % c->parts, input = task / c->parts, group = input % c->groups;
    const int64_t chunk = input / c->groups % c->chunks, image = input / c->groups / c->chunks;
    const int64_t first = c->blocks * part / c->parts, last = c->blocks * (part + 1) / c->parts;
    const int64_t row = c->pieces ? chunk / c->pieces : 0, piece = c->pieces ? chunk % c->pieces : chunk;
    const int64_t pixel = row * c->out_width + piece * c->chunk;
    const tv_span span = {image, group * c->blocks + first, last - first, pixel,
                          tv_size_min(pixel + c->chunk, c->pieces ? (row + 1) * c->out_width : pixels)};
    if (span.first >= span.last) continue;
    const tv_window window = tv_conv_window(c, image, group, span.first, span.last, scratch, held != input);
    held = input;
    tv_conv_part(c, args, epilogue, &window, &span);
  }
}

#endif

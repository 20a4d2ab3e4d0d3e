/* SPDX-License-Identifier: Apache-2.0
 * Sequences and optionals. Items never change once they are in a sequence, so sequences share them; a tensor that
 * enters or leaves is copied. */
#include "routine.h"

typedef const tvrt_value* const* operands;

static int32_t fail(tvrt_frame* f, const char* message) { return f->host->fail(f, TVRT_RUN_FAILED, message); }

static int32_t copy_tensor(tvrt_frame* f, tvrt_value* out, const tvrt_value* in) {
  if (in->kind != TVRT_KIND_TENSOR) return fail(f, "a tensor is expected");
  const int64_t bytes = tvrt_bytes(in->dtype, tvrt_count(in));
  int32_t status = tvrt_make(f, out, in->dtype, in->rank, in->dims);
  if (!status && bytes > 0) memcpy(out->data, in->data, (size_t)bytes);
  return status;
}

static int32_t make_sequence(tvrt_frame* f, tvrt_value* out, int32_t dtype, int64_t count) {
  if (count < 0 || count > INT64_MAX / (int64_t)sizeof(tvrt_value)) return TVRT_OUT_OF_MEMORY;
  memset(out, 0, sizeof *out);
  out->kind = TVRT_KIND_SEQUENCE;
  out->dtype = dtype;
  out->count = count;
  out->items = f->host->acquire(f, (count > 0 ? count : 1) * (int64_t)sizeof(tvrt_value));
  return out->items ? TVRT_OK : TVRT_OUT_OF_MEMORY;
}

/* The place that a position operand names, in [0, limit), or -1; without one, `otherwise`. Negative ones count from the
 * end. */
static int64_t place_of(const tvrt_value* position, int64_t count, int64_t limit, int64_t otherwise) {
  if (!position) return otherwise;
  int64_t at = tvrt_count(position) == 1 ? tvrt_integer(position, 0) : -1;
  if (at < 0) at += count;
  return at >= 0 && at < limit ? at : -1;
}

int32_t tvrt_op_SequenceConstruct(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out,
                                  int32_t out_count, const tvrt_attrs* attrs) {
  (void)out_count, (void)attrs;
  int32_t status = make_sequence(f, out[0], in_count > 0 ? in[0]->dtype : 0, in_count);
  for (int32_t k = 0; k < in_count && !status; ++k) {
    memset(&out[0]->items[k], 0, sizeof(tvrt_value));
    status = copy_tensor(f, &out[0]->items[k], in[k]);
  }
  return status;
}

int32_t tvrt_op_SequenceEmpty(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                              const tvrt_attrs* attrs) {
  (void)in, (void)in_count, (void)out_count;
  return make_sequence(f, out[0], (int32_t)attrs->ints[0], 0);
}

int32_t tvrt_op_SequenceInsert(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                               const tvrt_attrs* attrs) {
  (void)out_count, (void)attrs;
  const tvrt_value s = *in[0];
  const int64_t at = place_of(in_count > 2 ? in[2] : NULL, s.count, s.count + 1, s.count);
  if (s.kind != TVRT_KIND_SEQUENCE || at < 0) return fail(f, "SequenceInsert: the position is outside of the sequence");
  int32_t status = make_sequence(f, out[0], s.dtype, s.count + 1);
  if (status) return status;
  tvrt_value* items = out[0]->items;
  if (at > 0) memcpy(items, s.items, (size_t)at * sizeof *items);
  if (s.count > at) memcpy(items + at + 1, s.items + at, (size_t)(s.count - at) * sizeof *items);
  memset(&items[at], 0, sizeof *items);
  return copy_tensor(f, &items[at], in[1]);
}

int32_t tvrt_op_SequenceErase(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                              const tvrt_attrs* attrs) {
  (void)out_count, (void)attrs;
  const tvrt_value s = *in[0];
  const int64_t at = place_of(in_count > 1 ? in[1] : NULL, s.count, s.count, s.count - 1);
  if (s.kind != TVRT_KIND_SEQUENCE || at < 0) return fail(f, "SequenceErase: the position is outside of the sequence");
  int32_t status = make_sequence(f, out[0], s.dtype, s.count - 1);
  if (status) return status;
  if (at > 0) memcpy(out[0]->items, s.items, (size_t)at * sizeof(tvrt_value));
  if (s.count - 1 > at) memcpy(out[0]->items + at, s.items + at + 1, (size_t)(s.count - 1 - at) * sizeof(tvrt_value));
  return TVRT_OK;
}

int32_t tvrt_op_SequenceAt(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                           const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count, (void)attrs;
  const int64_t at = place_of(in[1], in[0]->count, in[0]->count, -1);
  if (in[0]->kind != TVRT_KIND_SEQUENCE || at < 0)
    return fail(f, "SequenceAt: the position is outside of the sequence");
  return copy_tensor(f, out[0], &in[0]->items[at]);
}

int32_t tvrt_op_SequenceLength(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                               const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count, (void)attrs;
  int32_t status = tvrt_make(f, out[0], TVRT_I64, 0, NULL);
  if (!status) *(int64_t*)out[0]->data = in[0]->count;
  return status;
}

/* The size of part k: one number for all, a list, or 1. */
static int64_t part_size(const tvrt_value* split, int64_t k, int64_t rest) {
  int64_t size = !split ? 1 : tvrt_integer(split, split->rank == 0 ? 0 : k);
  return split && split->rank == 0 && size > rest ? rest : size;
}

static int64_t part_count(const tvrt_value* split, int64_t size) {
  if (!split) return size;
  if (split->rank > 0) return tvrt_count(split);
  const int64_t step = tvrt_integer(split, 0);
  return step > 0 ? size / step + (size % step != 0) : -1;
}

/* ints: axis, whether the axis stays */
int32_t tvrt_op_SplitToSequence(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                                const tvrt_attrs* attrs) {
  (void)out_count;
  const tvrt_value *x = in[0], *split = in_count > 1 ? in[1] : NULL;
  const int64_t axis = attrs->ints[0], size = x->dims[axis], width = tvrt_element_bytes(x->dtype),
                count = part_count(split, size);
  if (width == 0 || count < 0) return fail(f, "SplitToSequence: this type or size of the parts is not supported");
  int32_t status = make_sequence(f, out[0], x->dtype, count);
  if (status) return status;
  int64_t outer = 1, inner = width, from = 0;
  for (int64_t a = 0; a < axis; ++a) outer *= x->dims[a];
  for (int32_t a = (int32_t)axis + 1; a < x->rank; ++a) inner *= x->dims[a];
  for (int64_t k = 0; k < count; ++k) {
    tvrt_value* item = &out[0]->items[k];
    const int64_t part = part_size(split, k, size - from);
    if (part < 0 || part > size - from) return fail(f, "SplitToSequence: the parts do not add up to the axis");
    int64_t dims[TVRT_MAX_RANK];
    int32_t rank = 0;
    for (int32_t a = 0; a < x->rank; ++a)
      if (a != axis || attrs->ints[1]) dims[rank++] = a == axis ? part : x->dims[a];
    memset(item, 0, sizeof *item);
    status = tvrt_make(f, item, x->dtype, rank, dims);
    if (status) return status;
    for (int64_t o = 0; o < outer && part * inner > 0; ++o)
      memcpy((char*)item->data + o * part * inner, (const char*)x->data + (o * size + from) * inner,
             (size_t)(part * inner));
    from += part;
  }
  return from == size ? TVRT_OK : fail(f, "SplitToSequence: the parts do not add up to the axis");
}

static int same_but(const tvrt_value* a, const tvrt_value* b, int64_t axis) {
  if (a->rank != b->rank || a->dtype != b->dtype) return 0;
  for (int32_t k = 0; k < a->rank; ++k)
    if (k != axis && a->dims[k] != b->dims[k]) return 0;
  return 1;
}

/* ints: axis, whether it is a new one */
int32_t tvrt_op_ConcatFromSequence(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out,
                                   int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count;
  const tvrt_value* s = in[0];
  const int64_t axis = attrs->ints[0];
  const int stack = attrs->ints[1] != 0;
  if (s->count < 1) return fail(f, "ConcatFromSequence: the sequence is empty");
  const tvrt_value* first = &s->items[0];
  const int64_t width = tvrt_element_bytes(first->dtype);
  if (width == 0 || first->rank + stack > TVRT_MAX_RANK)
    return fail(f, "ConcatFromSequence: this type or rank is not supported");
  int64_t dims[TVRT_MAX_RANK], total = 0, outer = 1, inner = width;
  for (int64_t k = 0; k < s->count; ++k) {
    if (!same_but(first, &s->items[k], stack ? -1 : axis))
      return fail(f, "ConcatFromSequence: the items' shapes do not fit");
    total += stack ? 1 : s->items[k].dims[axis];
  }
  for (int32_t a = 0, from = 0; a < first->rank + stack; ++a) {
    dims[a] = a == axis ? total : first->dims[from];
    if (a < axis) outer *= dims[a];
    if (a > axis) inner *= dims[a];
    if (a != axis || !stack) ++from;
  }
  int32_t status = tvrt_make(f, out[0], first->dtype, first->rank + stack, dims);
  if (status) return status;
  int64_t at = 0;
  for (int64_t k = 0; k < s->count; ++k) {
    const int64_t part = (stack ? 1 : s->items[k].dims[axis]) * inner;
    for (int64_t o = 0; o < outer && part > 0; ++o)
      memcpy((char*)out[0]->data + o * total * inner + at, (const char*)s->items[k].data + o * part, (size_t)part);
    at += part;
  }
  return TVRT_OK;
}

static int32_t take_value(tvrt_frame* f, tvrt_value* out, const tvrt_value* in) {
  if (in->kind == TVRT_KIND_TENSOR) return copy_tensor(f, out, in);
  *out = *in;
  return TVRT_OK;
}

int32_t tvrt_op_Optional(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                         const tvrt_attrs* attrs) {
  (void)out_count, (void)attrs;
  if (in_count > 0 && in[0]) return take_value(f, out[0], in[0]);
  out[0]->kind = TVRT_KIND_NONE;
  return TVRT_OK;
}

int32_t tvrt_op_OptionalHasElement(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out,
                                   int32_t out_count, const tvrt_attrs* attrs) {
  (void)out_count, (void)attrs;
  int32_t status = tvrt_make(f, out[0], TVRT_BOOL, 0, NULL);
  if (!status) *(uint8_t*)out[0]->data = in_count > 0 && in[0] && in[0]->kind != TVRT_KIND_NONE;
  return status;
}

int32_t tvrt_op_OptionalGetElement(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out,
                                   int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count, (void)attrs;
  if (in[0]->kind == TVRT_KIND_NONE) return fail(f, "OptionalGetElement: the optional is empty");
  return take_value(f, out[0], in[0]);
}

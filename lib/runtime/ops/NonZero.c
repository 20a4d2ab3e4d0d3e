/* SPDX-License-Identifier: Apache-2.0
 * NonZero: the indices of elements that are not zero, [rank, count]. Compress (ints: axis, or -1 for flattened): the
 * slices whose condition is true. */
#include "routine.h"

int32_t tvrt_op_NonZero(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                        int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  (void)attrs;
  const tvrt_value* x = in[0];
  const int64_t count = tvrt_count(x);
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += tvrt_number(x, i) != 0;
  const int64_t dims[2] = {x->rank, found};
  int32_t status = tvrt_make(f, out[0], TVRT_I64, 2, dims);
  if (status) return status;
  int64_t *y = out[0]->data, at = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (tvrt_number(x, i) == 0) continue;
    int64_t rest = i;
    for (int32_t k = x->rank; k-- > 0;) {
      y[k * found + at] = rest % x->dims[k];
      rest /= x->dims[k];
    }
    ++at;
  }
  return TVRT_OK;
}

int32_t tvrt_op_Compress(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                         int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  const tvrt_value *x = in[0], *condition = in[1];
  const int64_t axis = attrs->ints[0], width = tvrt_element_bytes(x->dtype);
  int64_t outer = 1, size = tvrt_count(x), inner = 1, kept = 0, dims[TVRT_MAX_RANK];
  if (width == 0) return f->host->fail(f, TVRT_UNSUPPORTED, "Compress of types below a byte");
  if (axis >= 0) {
    size = x->dims[axis];
    for (int32_t k = 0; k < axis; ++k) outer *= x->dims[k];
    for (int32_t k = (int32_t)axis + 1; k < x->rank; ++k) inner *= x->dims[k];
  }
  int64_t limit = tvrt_count(condition) < size ? tvrt_count(condition) : size;
  const uint8_t* keep = condition->data;
  for (int64_t i = 0; i < limit; ++i) kept += keep[i] != 0;
  for (int32_t k = 0; k < x->rank; ++k) dims[k] = x->dims[k];
  dims[axis >= 0 ? axis : 0] = kept;
  int32_t status = tvrt_make(f, out[0], x->dtype, axis >= 0 ? x->rank : 1, dims);
  if (status) return status;
  char* y = out[0]->data;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < limit; ++i) {
      if (!keep[i]) continue;
      memcpy(y, (const char*)x->data + (o * size + i) * inner * width, (size_t)(inner * width));
      y += inner * width;
    }
  return TVRT_OK;
}

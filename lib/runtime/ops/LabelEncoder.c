/* SPDX-License-Identifier: Apache-2.0
 * ai.onnx.ml.LabelEncoder: operands x, keys (sorted), values, default. y = values[k] where keys[k] = x, else default.
 */
#include "routine.h"

static int64_t find(const tvrt_value* keys, int64_t count, const tvrt_value* x, int64_t i) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (tvrt_compare(keys, middle, x, i) < 0) low = middle + 1;
    else high = middle;
  }
  return low < count && tvrt_compare(keys, low, x, i) == 0 ? low : -1;
}

int32_t tvrt_op_LabelEncoder(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                             int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count, (void)attrs;
  const tvrt_value *x = in[0], *keys = in[1], *values = in[2];
  const int64_t width = tvrt_element_bytes(values->dtype), count = tvrt_count(x), size = tvrt_count(keys);
  int32_t status = tvrt_make(f, out[0], values->dtype, x->rank, x->dims);
  for (int64_t i = 0; i < count && !status; ++i) {
    const int64_t at = find(keys, size, x, i);
    memcpy((char*)out[0]->data + i * width, at < 0 ? (const char*)in[3]->data : (const char*)values->data + at * width,
           (size_t)width);
  }
  return status;
}

/* SPDX-License-Identifier: Apache-2.0
 * ScatterElements (ints: axis, reduction) and ScatterND (ints: reduction): a copy of the data with elements replaced or
 * combined. Reductions: 0 none, 1 add, 2 mul, 3 min, 4 max. */
#include "routine.h"

enum { NONE, ADD, MUL, MIN, MAX };

#define COMBINE(T)                                                                                             \
  static void combine_##T(void* to, const void* from, int64_t kind) {                                          \
    T a, b;                                                                                                    \
    memcpy(&a, to, sizeof a);                                                                                  \
    memcpy(&b, from, sizeof b);                                                                                \
    a = kind == ADD ? (T)(a + b) : kind == MUL ? (T)(a * b) : kind == MIN ? (b < a ? b : a) : (b > a ? b : a); \
    memcpy(to, &a, sizeof a);                                                                                  \
  }
COMBINE(float)
COMBINE(double)
COMBINE(int8_t)
COMBINE(uint8_t)
COMBINE(int16_t)
COMBINE(uint16_t)
COMBINE(int32_t)
COMBINE(uint32_t)
COMBINE(int64_t)
COMBINE(uint64_t)

typedef void (*combine_fn)(void*, const void*, int64_t);

static combine_fn combine_of(int32_t dtype) {
  switch (dtype) {
    case TVRT_F32: return combine_float;
    case TVRT_F64: return combine_double;
    case TVRT_I8: return combine_int8_t;
    case TVRT_U8:
    case TVRT_BOOL: return combine_uint8_t;
    case TVRT_I16: return combine_int16_t;
    case TVRT_U16: return combine_uint16_t;
    case TVRT_I32: return combine_int32_t;
    case TVRT_U32: return combine_uint32_t;
    case TVRT_I64: return combine_int64_t;
    case TVRT_U64: return combine_uint64_t;
    default: return NULL;
  }
}

static int32_t start(tvrt_frame* f, const tvrt_value* data, tvrt_value* out, int64_t kind, combine_fn* combine) {
  *combine = combine_of(data->dtype);
  if (kind != NONE && !*combine) return f->host->fail(f, TVRT_UNSUPPORTED, "Scatter cannot reduce this type");
  if (tvrt_element_bytes(data->dtype) == 0) return f->host->fail(f, TVRT_UNSUPPORTED, "Scatter of types below a byte");
  int32_t status = tvrt_make(f, out, data->dtype, data->rank, data->dims);
  if (status == TVRT_OK) memcpy(out->data, data->data, (size_t)(tvrt_count(data) * tvrt_element_bytes(data->dtype)));
  return status;
}

int32_t tvrt_op_ScatterElements(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                                int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  const tvrt_value *data = in[0], *indices = in[1], *updates = in[2];
  const int64_t axis = attrs->ints[0], kind = attrs->ints[1], size = data->dims[axis],
                width = tvrt_element_bytes(data->dtype);
  combine_fn combine;
  int32_t status = start(f, data, out[0], kind, &combine);
  if (status) return status;
  int64_t strides[TVRT_MAX_RANK], at[TVRT_MAX_RANK] = {0};
  for (int32_t k = data->rank, s = 0; k-- > 0; ++s) strides[k] = s == 0 ? 1 : strides[k + 1] * data->dims[k + 1];
  for (int64_t n = 0, count = tvrt_count(indices); n < count; ++n) {
    int64_t index = tvrt_integer(indices, n), position = 0;
    if (index < 0) index += size;
    if (index < 0 || index >= size)
      return f->host->fail(f, TVRT_RUN_FAILED, "ScatterElements: an index is out of range");
    for (int32_t k = 0; k < data->rank; ++k) {
      if (k != axis && at[k] >= data->dims[k])
        return f->host->fail(f, TVRT_RUN_FAILED, "ScatterElements: indices exceed the data");
      position += (k == axis ? index : at[k]) * strides[k];
    }
    char* to = (char*)out[0]->data + position * width;
    const char* from = (const char*)updates->data + n * width;
    if (kind == NONE) memcpy(to, from, (size_t)width);
    else combine(to, from, kind);
    for (int32_t k = indices->rank; k-- > 0;) {
      if (++at[k] < indices->dims[k]) break;
      at[k] = 0;
    }
  }
  return TVRT_OK;
}

int32_t tvrt_op_ScatterND(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                          int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count;
  (void)out_count;
  const tvrt_value *data = in[0], *indices = in[1], *updates = in[2];
  const int64_t kind = attrs->ints[0], width = tvrt_element_bytes(data->dtype);
  combine_fn combine;
  int32_t status = start(f, data, out[0], kind, &combine);
  if (status) return status;
  const int64_t length = indices->dims[indices->rank - 1];
  int64_t slice = 1, tuples = 1;
  for (int32_t k = (int32_t)length; k < data->rank; ++k) slice *= data->dims[k];
  for (int32_t k = 0; k + 1 < indices->rank; ++k) tuples *= indices->dims[k];
  if (tvrt_count(updates) < tuples * slice) return f->host->fail(f, TVRT_RUN_FAILED, "ScatterND: too few updates");
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t position = 0;
    for (int64_t k = 0; k < length; ++k) {
      int64_t index = tvrt_integer(indices, t * length + k);
      if (index < 0) index += data->dims[k];
      if (index < 0 || index >= data->dims[k])
        return f->host->fail(f, TVRT_RUN_FAILED, "ScatterND: an index is out of range");
      position = position * data->dims[k] + index;
    }
    char* to = (char*)out[0]->data + position * slice * width;
    const char* from = (const char*)updates->data + t * slice * width;
    if (kind == NONE) memcpy(to, from, (size_t)(slice * width));
    else
      for (int64_t k = 0; k < slice; ++k) combine(to + k * width, from + k * width, kind);
  }
  return TVRT_OK;
}

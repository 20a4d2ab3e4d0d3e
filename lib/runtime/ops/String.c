/* SPDX-License-Identifier: Apache-2.0
 * StringConcat, Equal of strings, StringSplit, StringNormalizer. A result's descriptors point into its operands' text
 * wherever that is unchanged, else into a block of its own; text lives until the next run. */
#include "routine.h"

typedef const tvrt_value* const* operands;

/* The element of a broadcast operand that meets element `at` of the result. */
static int64_t element_at(const tvrt_value* x, const tvrt_value* result, int64_t at) {
  int64_t index = 0, stride = 1;
  for (int32_t a = result->rank, b = x->rank; a-- > 0;) {
    const int64_t i = at % result->dims[a];
    at /= result->dims[a];
    if (b-- <= 0) continue;
    if (x->dims[b] != 1) index += i * stride;
    stride *= x->dims[b];
  }
  return index;
}

static int32_t make_broadcast(tvrt_frame* f, tvrt_value* out, int32_t dtype, const tvrt_value* x, const tvrt_value* y) {
  const int32_t rank = x->rank > y->rank ? x->rank : y->rank;
  int64_t dims[TVRT_MAX_RANK];
  for (int32_t k = 0; k < rank; ++k) {
    const int64_t a = k < rank - x->rank ? 1 : x->dims[k - (rank - x->rank)],
                  b = k < rank - y->rank ? 1 : y->dims[k - (rank - y->rank)];
    if (a != b && a != 1 && b != 1) return f->host->fail(f, TVRT_RUN_FAILED, "shapes of strings do not broadcast");
    dims[k] = a == 1 ? b : a;
  }
  return tvrt_make(f, out, dtype, rank, dims);
}

int32_t tvrt_op_StringConcat(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                             const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count, (void)attrs;
  int32_t status = make_broadcast(f, out[0], TVRT_STRING, in[0], in[1]);
  if (status) return status;
  const tvrt_string *x = in[0]->data, *y = in[1]->data;
  tvrt_string* z = out[0]->data;
  const int64_t count = tvrt_count(out[0]);
  int64_t bytes = 0;
  for (int64_t k = 0; k < count; ++k)
    bytes += x[element_at(in[0], out[0], k)].size + y[element_at(in[1], out[0], k)].size;
  char* text = f->host->acquire(f, bytes + 1);
  if (!text) return TVRT_OUT_OF_MEMORY;
  for (int64_t k = 0; k < count; ++k) {
    const tvrt_string a = x[element_at(in[0], out[0], k)], b = y[element_at(in[1], out[0], k)];
    if (a.size > 0) memcpy(text, a.data, (size_t)a.size);
    if (b.size > 0) memcpy(text + a.size, b.data, (size_t)b.size);
    z[k].data = text;
    z[k].size = a.size + b.size;
    text += z[k].size;
  }
  return TVRT_OK;
}

int32_t tvrt_op_EqualString(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                            const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count, (void)attrs;
  int32_t status = make_broadcast(f, out[0], TVRT_BOOL, in[0], in[1]);
  const int64_t count = status ? 0 : tvrt_count(out[0]);
  for (int64_t k = 0; k < count; ++k)
    ((uint8_t*)out[0]->data)[k] =
        tvrt_compare(in[0], element_at(in[0], out[0], k), in[1], element_at(in[1], out[0], k)) == 0;
  return status;
}

static int is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Cuts the next part off the rest; 0: there is none. Without a delimiter, runs of white space part and are never part.
 */
static int next_part(tvrt_string* rest, const tvrt_string* delimiter, int last, tvrt_string* part) {
  if (!rest->data) return 0;
  if (delimiter->size == 0) {
    while (rest->size > 0 && is_space(*rest->data)) ++rest->data, --rest->size;
    if (rest->size == 0) return 0;
  }
  int64_t n = last ? rest->size : 0;
  const int64_t width = delimiter->size > 0 ? delimiter->size : 1;
  for (; n < rest->size; ++n) {
    if (delimiter->size == 0 && is_space(rest->data[n])) break;
    if (delimiter->size > 0 && rest->size - n >= width && memcmp(rest->data + n, delimiter->data, (size_t)width) == 0)
      break;
  }
  part->data = rest->data;
  part->size = n;
  if (n >= rest->size) {
    rest->data = NULL;
    rest->size = 0;
  } else {
    rest->data += n + width;
    rest->size -= n + width;
  }
  return 1;
}

/* ints: largest number of cuts or -1; strings: delimiter. Rows are filled up with empty strings. */
int32_t tvrt_op_StringSplit(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out, int32_t out_count,
                            const tvrt_attrs* attrs) {
  (void)in_count;
  const tvrt_value* x = in[0];
  const int64_t count = tvrt_count(x), cuts = attrs->ints[0];
  tvrt_value parts = {0}, lengths = {0};
  tvrt_value *y = out[0] ? out[0] : &parts, *z = out_count > 1 && out[1] ? out[1] : &lengths;
  int64_t widest = 0, dims[TVRT_MAX_RANK + 1];
  if (x->rank >= TVRT_MAX_RANK) return f->host->fail(f, TVRT_RUN_FAILED, "StringSplit: too many dimensions");
  int32_t status = tvrt_make(f, z, TVRT_I64, x->rank, x->dims);
  for (int pass = 0; pass < 2 && !status; ++pass) {
    for (int64_t k = 0; k < count; ++k) {
      tvrt_string rest = ((const tvrt_string*)x->data)[k], part = {"", 0};
      if (!rest.data) rest.data = "";
      int64_t n = 0;
      for (; next_part(&rest, &attrs->strings[0], cuts >= 0 && n >= cuts, &part); ++n)
        if (pass == 1) ((tvrt_string*)y->data)[k * widest + n] = part;
      ((int64_t*)z->data)[k] = n;
      if (n > widest) widest = n;
      for (; pass == 1 && n < widest; ++n) ((tvrt_string*)y->data)[k * widest + n] = (tvrt_string){"", 0};
    }
    for (int32_t a = 0; a < x->rank; ++a) dims[a] = x->dims[a];
    dims[x->rank] = widest;
    if (pass == 0) status = tvrt_make(f, y, TVRT_STRING, x->rank + 1, dims);
  }
  return status;
}

/* Code points with one other case of the same length in UTF-8: ASCII, Latin-1, Latin Extended-A, Greek, Cyrillic. */
static uint32_t changed_case(uint32_t c, int upper) {
  const uint32_t low = upper ? 32 : 0, high = 32 - low; /* from this half of a block to that */
  if (c >= 'A' + low && c <= 'Z' + low) return c + high - low;
  if (c >= 0xc0 + low && c <= 0xde + low && c != 0xd7 + low) return c + high - low;
  if ((c >= 0x100 && c <= 0x12f) || (c >= 0x132 && c <= 0x137) || (c >= 0x14a && c <= 0x177) ||
      (c >= 0x460 && c <= 0x481))
    return upper ? c & ~1u : c | 1u;
  if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e)) return upper ? (c - 1) | 1u : (c + 1) & ~1u;
  if (c >= 0x391 + low && c <= 0x3a9 + low && c != 0x3a2 + low) return c + high - low;
  if (c >= 0x410 + low && c <= 0x42f + low) return c + high - low;
  if (!upper && c >= 0x400 && c <= 0x40f) return c + 80;
  if (upper && c >= 0x450 && c <= 0x45f) return c - 80;
  return c;
}

static void change_case(char* text, int64_t size, int upper) {
  for (int64_t k = 0; k < size; ++k) {
    unsigned char* b = (unsigned char*)text + k;
    if (b[0] < 0x80) {
      b[0] = (unsigned char)changed_case(b[0], upper);
    } else if ((b[0] & 0xe0) == 0xc0 && k + 1 < size) {
      const uint32_t c = changed_case((uint32_t)(b[0] & 31) << 6 | (b[1] & 63), upper);
      b[0] = (unsigned char)(0xc0 | c >> 6);
      b[1] = (unsigned char)(0x80 | (c & 63));
      ++k;
    }
  }
}

static int32_t lowered(tvrt_frame* f, const tvrt_string* s, tvrt_string* out) {
  char* text = f->host->acquire(f, s->size + 1);
  if (!text) return TVRT_OUT_OF_MEMORY;
  if (s->size > 0) memcpy(text, s->data, (size_t)s->size);
  change_case(text, s->size, 0);
  out->data = text;
  out->size = s->size;
  return TVRT_OK;
}

static int is_among(const tvrt_string* s, const tvrt_string* all, int32_t count) {
  for (int32_t k = 0; k < count; ++k)
    if (all[k].size == s->size && (s->size == 0 || memcmp(all[k].data, s->data, (size_t)s->size) == 0)) return 1;
  return 0;
}

/* ints: case change 0 none, 1 lower, 2 upper; whether stop words are case-sensitive; strings: stop words, lower if not.
 */
int32_t tvrt_op_StringNormalizer(tvrt_frame* f, operands in, int32_t in_count, tvrt_value* const* out,
                                 int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count;
  const tvrt_value* x = in[0];
  if (x->rank < 1 || x->rank > 2 || (x->rank == 2 && x->dims[0] != 1))
    return f->host->fail(f, TVRT_RUN_FAILED, "StringNormalizer: the shape is neither [C] nor [1, C]");
  const int64_t size = tvrt_count(x);
  tvrt_string* kept = f->host->acquire(f, (size + 1) * (int64_t)sizeof *kept);
  if (!kept) return TVRT_OUT_OF_MEMORY;
  int64_t count = 0;
  for (int64_t k = 0; k < size; ++k) {
    tvrt_string s = ((const tvrt_string*)x->data)[k], key = s;
    if (!attrs->ints[1] && attrs->string_count > 0 && lowered(f, &s, &key)) return TVRT_OUT_OF_MEMORY;
    if (!is_among(&key, attrs->strings, attrs->string_count)) kept[count++] = s;
  }
  if (count == 0) kept[count++] = (tvrt_string){"", 0};
  const int64_t dims[2] = {x->rank == 1 ? count : 1, count};
  int32_t status = tvrt_make(f, out[0], TVRT_STRING, x->rank, dims);
  for (int64_t k = 0; k < count && !status; ++k) {
    tvrt_string* y = (tvrt_string*)out[0]->data + k;
    *y = kept[k];
    if (attrs->ints[0] == 0 || y->size == 0) continue;
    status = lowered(f, &kept[k], y);
    if (!status && attrs->ints[0] == 2) {
      memcpy((char*)y->data, kept[k].data, (size_t)y->size);
      change_case((char*)y->data, y->size, 1);
    }
  }
  f->host->release(f, kept);
  return status;
}

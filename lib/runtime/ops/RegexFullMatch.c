/* SPDX-License-Identifier: Apache-2.0
 * RegexFullMatch (strings: the pattern as a POSIX extended expression for the whole text; ints: whether it holds a
 * class that a character of several bytes could match). */
#include <regex.h>

#include "routine.h"

/* 1, 0, or -1 where the text holds what a byte-wise match would get wrong. */
static int matches(const regex_t* regex, const tvrt_string* s, int ascii_only, char* text) {
  for (int64_t k = 0; k < s->size; ++k) {
    if (s->data[k] == 0 || (ascii_only && (unsigned char)s->data[k] >= 0x80)) return -1;
    text[k] = s->data[k];
  }
  text[s->size] = 0;
  return regexec(regex, text, 0, NULL, 0) == 0;
}

int32_t tvrt_op_RegexFullMatch(tvrt_frame* f, const tvrt_value* const* in, int32_t in_count, tvrt_value* const* out,
                               int32_t out_count, const tvrt_attrs* attrs) {
  (void)in_count, (void)out_count;
  const tvrt_string* x = in[0]->data;
  int32_t status = tvrt_make(f, out[0], TVRT_BOOL, in[0]->rank, in[0]->dims);
  if (status) return status;
  const int64_t count = tvrt_count(out[0]);
  int64_t longest = 0;
  for (int64_t k = 0; k < count; ++k)
    if (x[k].size > longest) longest = x[k].size;
  char* text = f->host->acquire(f, longest + 1);
  if (!text) return TVRT_OUT_OF_MEMORY;
  regex_t regex;
  if (regcomp(&regex, attrs->strings[0].data, REG_EXTENDED | REG_NOSUB) != 0)
    return f->host->fail(f, TVRT_RUN_FAILED, "RegexFullMatch: the C library rejects the pattern");
  for (int64_t k = 0; k < count && !status; ++k) {
    const int match = matches(&regex, &x[k], attrs->ints[0] != 0, text);
    if (match < 0)
      status = f->host->fail(f, TVRT_RUN_FAILED,
                             "RegexFullMatch: text with characters that the pattern's classes do not cover here");
    ((uint8_t*)out[0]->data)[k] = match > 0;
  }
  regfree(&regex);
  f->host->release(f, text);
  return status;
}

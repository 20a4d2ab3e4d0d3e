/* SPDX-License-Identifier: Apache-2.0
 * Runs a compiled model on zeros and prints its results' shapes and first elements.
 *
 * usage: run_model MODEL.tvc [THREADS] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tvrt.h>

static int failed(const char* message) {
  fprintf(stderr, "run_model: %s\n", message);
  return 1;
}

/* A tensor of zeros for the input, free dimensions being 1. */
static tvrt_value zeros(const tvrt_value_info* info) {
  tvrt_value value = {.kind = info->kind, .dtype = info->dtype, .rank = info->rank < 0 ? 0 : info->rank};
  value.bytes = 16; /* more than any element has */
  for (int32_t k = 0; k < value.rank; ++k) {
    value.dims[k] = info->dims[k] >= 0 ? info->dims[k] : 1;
    value.bytes *= value.dims[k];
  }
  value.data = calloc((size_t)value.bytes + 1, 1);
  return value;
}

static void print(const char* name, const tvrt_value* value) {
  int64_t count = 1;
  printf("%s [", name);
  for (int32_t k = 0; k < value->rank; ++k) {
    printf("%s%" PRId64, k ? ", " : "", value->dims[k]);
    count *= value->dims[k];
  }
  printf("]");
  for (int64_t k = 0; k < count && k < 8 && value->dtype == TVRT_F32; ++k)
    printf(" %g", ((const float*)value->data)[k]);
  printf("\n");
}

int main(int argc, char** argv) {
  if (argc < 2) return failed("usage: run_model MODEL.tvc [THREADS]");
  tvrt_model* model = NULL;
  tvrt_context* context = NULL;
  tvrt_context_options options = {.size = sizeof options, .threads = argc > 2 ? atoi(argv[2]) : 0};
  if (tvrt_model_open(argv[1], NULL, &model)) return failed(tvrt_last_error());
  if (tvrt_context_create(model, &options, &context)) return failed(tvrt_last_error());

  for (int32_t k = 0; k < tvrt_model_input_count(model); ++k) {
    tvrt_value value = zeros(tvrt_model_input_info(model, k));
    if (tvrt_context_set_input(context, k, &value)) return failed(tvrt_context_error(context));
  }
  if (tvrt_context_run(context)) return failed(tvrt_context_error(context));

  for (int32_t k = 0; k < tvrt_model_output_count(model); ++k) {
    const tvrt_value* value = NULL;
    if (tvrt_context_output(context, k, &value)) return failed(tvrt_context_error(context));
    print(tvrt_model_output_info(model, k)->name, value);
  }
  tvrt_context_destroy(context);
  tvrt_model_close(model);
  return 0; /* the inputs' memory goes with the process */
}

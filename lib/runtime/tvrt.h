/* SPDX-License-Identifier: Apache-2.0
 * tvrt: runs models that tvc compiled.
 *
 *   tvrt_model* model;
 *   tvrt_context* context;
 *   tvrt_model_open("model.tvc", NULL, &model);
 *   tvrt_context_create(model, NULL, &context);
 *   tvrt_context_set_input(context, 0, &value);       the caller's buffer, not copied
 *   tvrt_context_run(context);
 *   tvrt_context_output(context, 0, &result);         valid until the next run
 *
 * Every call that can fail returns a status; results come through trailing pointers, which keep their value on failure.
 * A model may be shared by threads; a context belongs to one thread at a time. After a context's first run, and until a
 * free dimension takes another value, a run allocates nothing and takes no lock. Values and element types: abi.h. */
#ifndef TVRT_H
#define TVRT_H

#include <stddef.h>

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVRT_API __attribute__((visibility("default")))

typedef int32_t tvrt_status; /* TVRT_OK, TVRT_BAD_ARGUMENT, ... */
typedef struct tvrt_model tvrt_model;
typedef struct tvrt_context tvrt_context;

/* Major * 10000 + minor * 100 + patch. */
TVRT_API uint32_t tvrt_version(void);
/* "ok", "bad argument", ... */
TVRT_API const char* tvrt_status_text(tvrt_status status);
/* What went wrong in this thread's last tvrt_model_open*, or tvrt_context_create that failed; "" if none did. */
TVRT_API const char* tvrt_last_error(void);

/* -- models ------------------------------------------------------------------------------------------------------ */

/* Manifest and code are always checked against their hashes. The weights are too when the section has at most 32 MiB,
 * since that reads all of it; beyond, only when asked. */
enum { TVRT_VERIFY_DEFAULT = 0, TVRT_VERIFY_ALL = 1, TVRT_VERIFY_CODE = 2 };

typedef struct tvrt_model_options {
  size_t size;    /* sizeof(tvrt_model_options) */
  int32_t verify; /* TVRT_VERIFY_* */
  int32_t reserved;
  const char* target;          /* only the variant of this name, e.g. "avx2"; NULL: the best that the machine runs */
  const tvrt_program* program; /* code linked into this program, instead of the artifact's; NULL: the artifact's */
} tvrt_model_options;

/* Maps the file. options may be NULL. */
TVRT_API tvrt_status tvrt_model_open(const char* path, const tvrt_model_options* options, tvrt_model** model);
/* At an address that is a multiple of 64 the bytes are used where they lie and must stay until the model is closed;
 * else they are copied. */
TVRT_API tvrt_status tvrt_model_open_bytes(const void* bytes, size_t size, const tvrt_model_options* options,
                                           tvrt_model** model);
/* Contexts that still live keep what they need. NULL is allowed. */
TVRT_API void tvrt_model_close(tvrt_model* model);

enum {
  TVRT_INFO_OPTIONAL = 1,   /* an empty optional (TVRT_KIND_NONE) may be given */
  TVRT_INFO_HAS_DEFAULT = 2 /* the input may stay unbound */
};

/* An input or output as the model declares it. Lives as long as the model. */
typedef struct tvrt_value_info {
  const char* name;
  int32_t kind;                 /* TVRT_KIND_TENSOR or TVRT_KIND_SEQUENCE */
  int32_t dtype;                /* of a sequence: of its items */
  int32_t rank;                 /* -1: any (sequences and optionals) */
  uint32_t flags;               /* TVRT_INFO_* */
  const int64_t* dims;          /* rank of them; -1: free */
  const char* const* dim_names; /* of a free dimension: its symbol or expression ("batch", "2*past + 1"); else NULL */
  const int32_t* dim_symbols;   /* of a free dimension that is one symbol: its index; else -1 */
} tvrt_value_info;

/* A free dimension. */
typedef struct tvrt_symbol_info {
  const char* name;
  const char* source_name; /* as the source model spells it */
  int64_t low, high;       /* what the model was compiled for */
} tvrt_symbol_info;

TVRT_API int32_t tvrt_model_input_count(const tvrt_model* model);
TVRT_API int32_t tvrt_model_output_count(const tvrt_model* model);
TVRT_API int32_t tvrt_model_symbol_count(const tvrt_model* model);
/* NULL if there is none of that index. */
TVRT_API const tvrt_value_info* tvrt_model_input_info(const tvrt_model* model, int32_t index);
TVRT_API const tvrt_value_info* tvrt_model_output_info(const tvrt_model* model, int32_t index);
TVRT_API const tvrt_symbol_info* tvrt_model_symbol_info(const tvrt_model* model, int32_t index);
/* The name of the variant in use, e.g. "avx512". */
TVRT_API const char* tvrt_model_target(const tvrt_model* model);
/* What the compiler wrote under this key; NULL if nothing. */
TVRT_API const char* tvrt_model_metadata(const tvrt_model* model, const char* key);

/* -- contexts ---------------------------------------------------------------------------------------------------- */

/* Runs task(argument, t) once for every t in [0, threads), on any threads, and returns when all are done. */
typedef void (*tvrt_task)(void* argument, int32_t t);
typedef void (*tvrt_parallel_for)(void* user, int32_t threads, tvrt_task task, void* argument);

typedef struct tvrt_context_options {
  size_t size;     /* sizeof(tvrt_context_options) */
  int32_t threads; /* the caller's included; 0: the physical cores that the process may use */
  int32_t reserved;
  tvrt_parallel_for parallel; /* the host's own threads instead of the context's pool; NULL: a pool */
  void* parallel_user;
  /* Memory, at the given alignment (a power of two); NULL: the C library's. Both or none. */
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  void (*deallocate)(void* user, void* block, size_t bytes);
  void* allocator_user;
} tvrt_context_options;

/* options may be NULL. Results do not depend on the number of threads. */
TVRT_API tvrt_status tvrt_context_create(tvrt_model* model, const tvrt_context_options* options,
                                         tvrt_context** context);
TVRT_API void tvrt_context_destroy(tvrt_context* context); /* NULL is allowed */

/* Reads the input from the caller's memory in every run from now on: `data`, `items` and strings must stay valid, the
 * struct itself is copied. `bytes` is the size of the buffer. Data needs its elements' alignment only. value NULL: the
 * input is unbound again. TVRT_BAD_ARGUMENT where kind, type, rank, a fixed dimension or the size do not fit. */
TVRT_API tvrt_status tvrt_context_set_input(tvrt_context* context, int32_t index, const tvrt_value* value);
/* Writes a tensor output into the caller's memory in every run from now on; a run whose result is larger fails.
 * data NULL: back to the context's memory. */
TVRT_API tvrt_status tvrt_context_bind_output(tvrt_context* context, int32_t index, void* data, int64_t bytes);
/* Takes the free dimensions from the bound inputs and gets memory for them, as a run would. Then tvrt_context_output
 * tells those dims of the outputs that are known before the run; others are -1. */
TVRT_API tvrt_status tvrt_context_prepare(tvrt_context* context);
/* The same for given values of all symbols, in the model's order: a later run with sizes that need no more memory
 * allocates none. */
TVRT_API tvrt_status tvrt_context_reserve(tvrt_context* context, const int64_t* symbols);
TVRT_API tvrt_status tvrt_context_run(tvrt_context* context);
/* An output: after a run its value, valid until the next run. */
TVRT_API tvrt_status tvrt_context_output(tvrt_context* context, int32_t index, const tvrt_value** value);
/* States that live from run to run become zero again. */
TVRT_API void tvrt_context_reset(tvrt_context* context);
/* What went wrong in the context's last call that failed; "" if none did. */
TVRT_API const char* tvrt_context_error(const tvrt_context* context);
TVRT_API int32_t tvrt_context_threads(const tvrt_context* context);

typedef struct tvrt_metrics {
  size_t size;                    /* sizeof(tvrt_metrics), set by the caller */
  int64_t runs;                   /* that succeeded */
  int64_t p50_ns, p95_ns, p99_ns; /* of their durations, within 2 % */
  int64_t arena_bytes;            /* planned memory */
  int64_t pool_bytes;             /* memory for what has no size before the run */
  int64_t state_bytes;
  int64_t weight_bytes; /* mapped from the artifact, shared by all contexts */
} tvrt_metrics;
TVRT_API tvrt_status tvrt_context_metrics(const tvrt_context* context, tvrt_metrics* metrics);

#ifdef __cplusplus
}
#endif
#endif

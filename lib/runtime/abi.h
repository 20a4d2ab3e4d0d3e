/* SPDX-License-Identifier: Apache-2.0
 * What emitted code and the loader agree on. Plain C, nothing but libc. Versioned as a schema: a field is only ever
 * added at the end, and TVRT_ABI_VERSION rises when emitted code needs it.
 *
 * Emitted code never allocates by itself, never locks, keeps no globals: all it may use is in tvrt_frame. */
#ifndef TVRT_ABI_H
#define TVRT_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TVRT_ABI_VERSION 1u
#define TVRT_MAX_RANK 8

/* Element types carry ONNX's TensorProto.DataType numbers. */
enum {
  TVRT_F32 = 1,
  TVRT_U8 = 2,
  TVRT_I8 = 3,
  TVRT_U16 = 4,
  TVRT_I16 = 5,
  TVRT_I32 = 6,
  TVRT_I64 = 7,
  TVRT_STRING = 8,
  TVRT_BOOL = 9,
  TVRT_F16 = 10,
  TVRT_F64 = 11,
  TVRT_U32 = 12,
  TVRT_U64 = 13,
  TVRT_C64 = 14,
  TVRT_C128 = 15,
  TVRT_BF16 = 16,
  TVRT_F8E4M3FN = 17,
  TVRT_F8E4M3FNUZ = 18,
  TVRT_F8E5M2 = 19,
  TVRT_F8E5M2FNUZ = 20,
  TVRT_U4 = 21,
  TVRT_I4 = 22,
  TVRT_F4E2M1 = 23,
  TVRT_F8E8M0 = 24,
  TVRT_U2 = 25,
  TVRT_I2 = 26
};

enum {
  TVRT_OK = 0,
  TVRT_BAD_ARGUMENT = 1,
  TVRT_BAD_ARTIFACT = 2,
  TVRT_OUT_OF_MEMORY = 3,
  TVRT_RUN_FAILED = 4,
  TVRT_UNSUPPORTED = 5,
  TVRT_IO = 6
};

enum { TVRT_KIND_TENSOR = 0, TVRT_KIND_SEQUENCE = 1, TVRT_KIND_NONE = 2 };

typedef struct tvrt_string {
  const char* data; /* not terminated */
  int64_t size;
} tvrt_string;

/* A tensor (row-major, sub-byte types packed low bits first), a sequence of values, or nothing (an empty optional). */
typedef struct tvrt_value {
  int32_t kind;
  int32_t dtype; /* of a sequence: of its items */
  int32_t rank;
  int32_t reserved;
  int64_t dims[TVRT_MAX_RANK];
  void* data;               /* tensor elements; TVRT_STRING: tvrt_string[] */
  int64_t bytes;            /* size of the buffer behind data when the caller or the pool gave one, else 0 */
  int64_t count;            /* sequence: number of items */
  struct tvrt_value* items; /* sequence: its items */
} tvrt_value;

typedef struct tvrt_frame tvrt_frame;

/* One slice of a parallel kernel: tasks [begin, end), on the pool's thread number `thread`. */
typedef void (*tvrt_kernel)(const void* args, int64_t begin, int64_t end, int32_t thread);

/* Services of the host for emitted code. */
typedef struct tvrt_host {
  uint32_t size; /* sizeof(tvrt_host) of the host */
  /* Splits [0, tasks) statically over the pool and waits. The split depends on tasks and threads only. */
  void (*parallel)(tvrt_frame* frame, tvrt_kernel kernel, const void* args, int64_t tasks);
  /* A 64-byte aligned block that lives until release or the end of the run (outputs: until the next run). Blocks are
     pooled in the context, so that equal runs allocate once. NULL when memory is out. */
  void* (*acquire)(tvrt_frame* frame, int64_t bytes);
  void (*release)(tvrt_frame* frame, void* block);
  /* Offsets of n buffers, each alive in steps [first, last], in one arena; returns the arena's size, < 0 on overflow.
     Offsets are multiples of 64. */
  int64_t (*plan)(int32_t n, const int64_t* bytes, const int32_t* first, const int32_t* last, int64_t* offsets);
  /* Records a message for the caller and returns status. */
  int32_t (*fail)(tvrt_frame* frame, int32_t status, const char* message);
} tvrt_host;

/* What one run sees. Owned by a context; emitted code keeps no pointer into it between calls. */
struct tvrt_frame {
  const tvrt_host* host;
  void* context;          /* the host's own */
  const uint8_t* weights; /* the artifact's weight section, 64-byte aligned */
  uint8_t* arena;         /* arena_bytes of prepare, 64-byte aligned */
  int64_t* offsets;       /* buffer_count offsets, filled by prepare */
  const int64_t* symbols; /* values of the symbolic dimensions, in the manifest's order */
  tvrt_value* inputs;
  tvrt_value* outputs; /* data: the caller's buffer or NULL; set by run to where the result lies */
  uint8_t* states;     /* values that live from run to run, zeroed when the context is created */
  int32_t threads;
  int64_t arena_bytes; /* set by prepare */
};

typedef struct tvrt_program {
  uint32_t abi_version;
  int32_t input_count, output_count, symbol_count, buffer_count;
  int64_t state_bytes;
  /* Sizes for these symbols: fills offsets, arena_bytes and the dims of those outputs that depend on symbols only.
     Called when the context is created and when a symbol changes. */
  int32_t (*prepare)(tvrt_frame* frame);
  int32_t (*run)(tvrt_frame* frame);
} tvrt_program;

/* The one exported symbol of a code section. NULL: the host is too old for this code. */
typedef const tvrt_program* (*tvrt_query_fn)(uint32_t host_abi_version);
#define TVRT_QUERY_SYMBOL "tvrt_query_program"

/* Attributes of a run-time routine, in the order that its operator's definition gives. */
typedef struct tvrt_attrs {
  const int64_t* ints;
  const double* floats;
  const tvrt_string* strings;
  int32_t int_count, float_count, string_count;
} tvrt_attrs;

/* A run-time routine: an operator without a static loop nest. in[i] == NULL: omitted; out[i] == NULL: not wanted.
   It sets kind, dtype, rank and dims of each output and takes its data from host->acquire. Returns a status. */
typedef int32_t (*tvrt_routine)(tvrt_frame* frame, const tvrt_value* const* in, int32_t in_count,
                                tvrt_value* const* out, int32_t out_count, const tvrt_attrs* attrs);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// A run allocates nothing: every allocating function of libc is counted, except where a sanitizer brings its own.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <atomic>
#include <vector>

#include "runtime/tvrt.h"
#include "small_models.h"

using namespace tests;

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  ++allocations;
  return __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  ++allocations;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : 12;
}
}
#endif

TEST_CASE("a run allocates nothing, from the second one with these sizes on") {
  for (int32_t threads : {1, 2}) {
    Folder folder;
    tvrt_model* model = nullptr;
    tvrt_context* context = nullptr;
    tvrt_context_options options = {};
    options.size = sizeof options;
    options.threads = threads;
    REQUIRE(tvrt_model_open(write_small_model(folder).c_str(), nullptr, &model) == TVRT_OK);
    REQUIRE(tvrt_context_create(model, &options, &context) == TVRT_OK);
    std::vector<float> a(400, 1.0f);
    tvrt_value value = {};
    value.dtype = TVRT_F32;
    value.rank = 2;
    value.dims[0] = 100;
    value.dims[1] = 4;
    value.data = a.data();
    value.bytes = 1600;
    REQUIRE(tvrt_context_set_input(context, 0, &value) == TVRT_OK);
    REQUIRE(tvrt_context_run(context) == TVRT_OK);
    int64_t before = allocations;
    bool fine = true;
    const tvrt_value* y = nullptr;
    for (int k = 0; k < 100; ++k)
      fine = fine && !tvrt_context_set_input(context, 0, &value) && !tvrt_context_run(context) &&
             !tvrt_context_output(context, 0, &y);
    int64_t after = allocations;
    CHECK(fine);
    CHECK(after == before);
    tvrt_context_destroy(context);
    tvrt_model_close(model);
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>

#include "runtime/tvrt.h"
#include "small_models.h"

using namespace tests;

namespace {

tvrt_value tensor(int32_t dtype, std::vector<int64_t> dims, void* data, size_t bytes) {
  tvrt_value v = {};
  v.kind = TVRT_KIND_TENSOR;
  v.dtype = dtype;
  v.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), v.dims);
  v.data = data;
  v.bytes = static_cast<int64_t>(bytes);
  return v;
}

tvrt_value floats(std::vector<int64_t> dims, std::vector<float>& data) {
  return tensor(TVRT_F32, std::move(dims), data.data(), data.size() * 4);
}

struct Opened {
  explicit Opened(int32_t threads = 1) {
    REQUIRE_MESSAGE(tvrt_model_open(write_small_model(folder).c_str(), nullptr, &model) == TVRT_OK, tvrt_last_error());
    tvrt_context_options options = {};
    options.size = sizeof options;
    options.threads = threads;
    REQUIRE(tvrt_context_create(model, &options, &context) == TVRT_OK);
  }
  ~Opened() {
    tvrt_context_destroy(context);
    tvrt_model_close(model);
  }
  const tvrt_value& output(int32_t k) const {
    const tvrt_value* value = nullptr;
    REQUIRE(tvrt_context_output(context, k, &value) == TVRT_OK);
    return *value;
  }
  std::string error() const { return tvrt_context_error(context); }
  Folder folder;
  tvrt_model* model = nullptr;
  tvrt_context* context = nullptr;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a model tells its signature") {
  Opened o;
  CHECK(tvrt_model_input_count(o.model) == 2);
  const auto* a = tvrt_model_input_info(o.model, 0);
  CHECK(std::string(a->name) == "a");
  CHECK(a->dtype == TVRT_F32);
  REQUIRE(a->rank == 2);
  CHECK(a->dims[0] == -1);
  CHECK(a->dims[1] == 4);
  CHECK(std::string(a->dim_names[0]) == "n");
  CHECK(a->dim_names[1] == nullptr);
  CHECK(a->dim_symbols[0] == 0);
  CHECK(a->dim_symbols[1] == -1);
  CHECK(tvrt_model_input_info(o.model, 1)->flags == TVRT_INFO_HAS_DEFAULT);
  CHECK(tvrt_model_input_info(o.model, 2) == nullptr);
  CHECK(std::string(tvrt_model_symbol_info(o.model, 0)->source_name) == "batch size");
  CHECK(tvrt_model_symbol_info(o.model, 0)->high == 1000);
  CHECK(std::string(tvrt_model_metadata(o.model, "tool")) == "tests");
  CHECK(tvrt_model_metadata(o.model, "nothing") == nullptr);
  CHECK(std::string(tvrt_model_target(o.model)) == "any");
}

TEST_CASE("a run reads the caller's inputs, defaults and states, at changing sizes") {
  Opened o;
  int64_t runs = 0;
  for (int64_t n : {1, 5, 0, 3, 1000, 1}) {
    std::vector<float> a(static_cast<size_t>(4 * n));
    std::iota(a.begin(), a.end(), 1.0f);
    auto value = floats({n, 4}, a);
    REQUIRE(tvrt_context_set_input(o.context, 0, &value) == TVRT_OK);
    REQUIRE_MESSAGE(tvrt_context_run(o.context) == TVRT_OK, o.error());
    const auto& y = o.output(0);
    CHECK(y.dims[0] == n);
    for (int64_t k = 0; k < 4 * n; ++k)
      CHECK(static_cast<float*>(y.data)[k] == a[static_cast<size_t>(k)] * static_cast<float>(k % 4 + 1) + 0.5f);
    CHECK(o.output(1).dims[0] == 4 * n);
    CHECK(*static_cast<int64_t*>(o.output(2).data) == ++runs);
  }
  tvrt_context_reset(o.context);
  REQUIRE(tvrt_context_run(o.context) == TVRT_OK);
  CHECK(*static_cast<int64_t*>(o.output(2).data) == 1);
}

TEST_CASE("outputs go into bound buffers, whatever makes them") {
  Opened o;
  std::vector<float> a(8, 1.0f), b(4, 0.0f), y(8), z(8);
  auto value = floats({2, 4}, a), bias = floats({4}, b);
  REQUIRE(tvrt_context_set_input(o.context, 0, &value) == TVRT_OK);
  REQUIRE(tvrt_context_set_input(o.context, 1, &bias) == TVRT_OK);
  REQUIRE(tvrt_context_prepare(o.context) == TVRT_OK);
  CHECK(o.output(0).dims[0] == 2);
  CHECK(o.output(0).data == nullptr);
  CHECK(o.output(1).dims[0] == -1);
  REQUIRE(tvrt_context_bind_output(o.context, 0, y.data(), 32) == TVRT_OK);
  REQUIRE(tvrt_context_bind_output(o.context, 1, z.data(), 32) == TVRT_OK);
  REQUIRE(tvrt_context_run(o.context) == TVRT_OK);
  CHECK(o.output(0).data == y.data());
  CHECK(o.output(1).data == z.data());
  CHECK(y == std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(z == std::vector<float>(8, 1.0f));
  SUBCASE("a buffer that is too small fails the run") {
    for (int k : {0, 1}) {
      REQUIRE(tvrt_context_bind_output(o.context, k, y.data(), 31) == TVRT_OK);
      CHECK(tvrt_context_run(o.context) == TVRT_BAD_ARGUMENT);
      CHECK(contains(o.error(), "needs 32 bytes, the bound buffer has 31"));
      REQUIRE(tvrt_context_bind_output(o.context, k, nullptr, 0) == TVRT_OK);
      CHECK(tvrt_context_run(o.context) == TVRT_OK);
    }
  }
}

TEST_CASE("a value that does not fit is refused with both types") {
  Opened o;
  std::vector<float> a(4000);
  auto refused = [&](tvrt_value value) {
    CHECK(tvrt_context_set_input(o.context, 0, &value) == TVRT_BAD_ARGUMENT);
    return o.error();
  };
  CHECK(refused(floats({2, 5}, a)) == "input 'a' takes f32[n, 4], got f32[2, 5]");
  CHECK(refused(floats({4}, a)) == "input 'a' takes f32[n, 4], got f32[4]");
  CHECK(refused(tensor(TVRT_I64, {2, 4}, a.data(), 64)) == "input 'a' takes f32[n, 4], got i64[2, 4]");
  CHECK(contains(refused(tensor(TVRT_F32, {2, 4}, a.data(), 31)), "f32[2, 4] needs 32 bytes, the buffer has 31"));
  CHECK(contains(refused(tensor(TVRT_F32, {2, 4}, nullptr, 32)), "the buffer has 0"));
  CHECK(contains(refused(tensor(TVRT_F32, {-1, 4}, a.data(), 32)), "impossible sizes"));
  CHECK(contains(refused(tensor(TVRT_F32, {INT64_MAX / 2, 4}, a.data(), INT64_MAX)), "impossible sizes"));
  tvrt_value sequence = {};
  sequence.kind = TVRT_KIND_SEQUENCE;
  sequence.dtype = TVRT_F32;
  CHECK(refused(sequence) == "input 'a' takes f32[n, 4], got sequence of f32");
  CHECK(tvrt_context_set_input(o.context, 2, &sequence) == TVRT_BAD_ARGUMENT);
  CHECK(tvrt_context_bind_output(o.context, -1, a.data(), 4) == TVRT_BAD_ARGUMENT);
}

TEST_CASE("a run without its inputs, or beyond what was compiled for, is refused; the context still works") {
  Opened o;
  std::vector<float> a(4 * 1001, 1.0f);
  CHECK(tvrt_context_run(o.context) == TVRT_BAD_ARGUMENT);
  CHECK(o.error() == "input 'a' is not set");
  auto value = floats({1001, 4}, a);
  REQUIRE(tvrt_context_set_input(o.context, 0, &value) == TVRT_OK);
  CHECK(tvrt_context_run(o.context) == TVRT_BAD_ARGUMENT);
  CHECK(o.error() == "dimension 'batch size' is 1001, the model was compiled for 0 to 1000");
  const tvrt_value* out = nullptr;
  CHECK(tvrt_context_output(o.context, 0, &out) == TVRT_BAD_ARGUMENT);
  a[0] = 666.0f;
  value = floats({1, 4}, a);
  REQUIRE(tvrt_context_set_input(o.context, 0, &value) == TVRT_OK);
  CHECK(tvrt_context_run(o.context) == TVRT_RUN_FAILED);
  CHECK(o.error() == "the number of the beast");
  a[0] = 1;
  CHECK(tvrt_context_run(o.context) == TVRT_OK);
  REQUIRE(tvrt_context_set_input(o.context, 0, nullptr) == TVRT_OK);
  CHECK(tvrt_context_run(o.context) == TVRT_BAD_ARGUMENT);
}

TEST_CASE("the caller's allocator has all memory of a context, and equal runs ask for none") {
  struct Counts {
    int64_t blocks = 0, bytes = 0, calls = 0;
  } counts;
  Folder folder;
  tvrt_model* model = nullptr;
  REQUIRE(tvrt_model_open(write_small_model(folder).c_str(), nullptr, &model) == TVRT_OK);
  tvrt_context_options options = {};
  options.size = sizeof options;
  options.threads = 2;
  options.allocator_user = &counts;
  options.allocate = [](void* user, size_t bytes, size_t alignment) {
    auto& c = *static_cast<Counts*>(user);
    ++c.blocks, ++c.calls, c.bytes += static_cast<int64_t>(bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  };
  options.deallocate = [](void* user, void* block, size_t bytes) {
    auto& c = *static_cast<Counts*>(user);
    --c.blocks, c.bytes -= static_cast<int64_t>(bytes);
    std::free(block);
  };
  tvrt_context* context = nullptr;
  REQUIRE(tvrt_context_create(model, &options, &context) == TVRT_OK);
  tvrt_model_close(model);  // the context keeps it
  std::vector<float> a(400, 1.0f);
  int64_t largest = 100;
  REQUIRE(tvrt_context_reserve(context, &largest) == TVRT_OK);
  auto run = [&](int64_t n) {
    auto value = floats({n, 4}, a);
    REQUIRE(tvrt_context_set_input(context, 0, &value) == TVRT_OK);
    REQUIRE(tvrt_context_run(context) == TVRT_OK);
  };
  run(100);
  int64_t calls = counts.calls;
  for (int k = 0; k < 10; ++k) run(100);
  CHECK(counts.calls == calls);
  tvrt_metrics metrics = {};
  metrics.size = sizeof metrics;
  REQUIRE(tvrt_context_metrics(context, &metrics) == TVRT_OK);
  CHECK(metrics.runs == 11);
  CHECK(metrics.p50_ns > 0);
  CHECK(metrics.p50_ns <= metrics.p99_ns);
  CHECK(metrics.arena_bytes == 1600);
  CHECK(metrics.state_bytes == 8);
  CHECK(metrics.pool_bytes > 2600);
  tvrt_context_destroy(context);
  CHECK(counts.blocks == 0);
  CHECK(counts.bytes == 0);
}

TEST_CASE("threads, each with a context of its own, share a model") {
  Opened o;
  std::vector<std::thread> threads;
  std::vector<int> right(8, 0);
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      tvrt_context_options options = {};
      options.size = sizeof options;
      options.threads = static_cast<int32_t>(t % 3 + 1);
      tvrt_context* context = nullptr;
      if (tvrt_context_create(o.model, &options, &context)) return;
      std::vector<float> a(40, static_cast<float>(t));
      auto value = floats({10, 4}, a);
      const tvrt_value* y = nullptr;
      tvrt_context_set_input(context, 0, &value);
      for (int k = 0; k < 100; ++k)
        if (!tvrt_context_run(context) && !tvrt_context_output(context, 0, &y) &&
            static_cast<float*>(y->data)[39] == 4.0f * static_cast<float>(t) + 0.5f)
          ++right[t];
      tvrt_context_destroy(context);
    });
  for (auto& t : threads) t.join();
  CHECK(right == std::vector<int>(8, 100));
}

TEST_CASE("the host's own threads give the same result") {
  Opened o;
  tvrt_context_options options = {};
  options.size = sizeof options;
  options.threads = 3;
  int launches = 0;
  options.parallel_user = &launches;
  options.parallel = [](void* user, int32_t threads, tvrt_task task, void* argument) {
    ++*static_cast<int*>(user);
    for (int32_t t = threads - 1; t >= 0; --t) task(argument, t);
  };
  tvrt_context* context = nullptr;
  REQUIRE(tvrt_context_create(o.model, &options, &context) == TVRT_OK);
  CHECK(tvrt_context_threads(context) == 3);
  std::vector<float> a(28, 2.0f);
  auto value = floats({7, 4}, a);
  const tvrt_value* y = nullptr;
  REQUIRE(tvrt_context_set_input(context, 0, &value) == TVRT_OK);
  REQUIRE(tvrt_context_run(context) == TVRT_OK);
  REQUIRE(tvrt_context_output(context, 0, &y) == TVRT_OK);
  CHECK(static_cast<float*>(y->data)[27] == 8.5f);
  CHECK(launches == 1);
  tvrt_context_destroy(context);
}

// SPDX-License-Identifier: Apache-2.0
// Runs a compiled model on random numbers, with results in the program's own buffers, and prints its latency.
//
// usage: time_model MODEL.tvc [RUNS]
#include <tvrt.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

using Model = std::unique_ptr<tvrt_model, decltype(&tvrt_model_close)>;
using Context = std::unique_ptr<tvrt_context, decltype(&tvrt_context_destroy)>;

Model open_model(const char* path) {
  tvrt_model* model = nullptr;
  if (tvrt_model_open(path, nullptr, &model)) throw std::runtime_error(tvrt_last_error());
  return Model(model, tvrt_model_close);
}

Context create_context(tvrt_model* model) {
  tvrt_context* context = nullptr;
  if (tvrt_context_create(model, nullptr, &context)) throw std::runtime_error(tvrt_last_error());
  return Context(context, tvrt_context_destroy);
}

void check(const Context& context, tvrt_status status) {
  if (status) throw std::runtime_error(tvrt_context_error(context.get()));
}

// Random numbers in [0, 1) for a float input, free dimensions being 1.
std::vector<float> random_input(const tvrt_value_info& info, tvrt_value& value) {
  if (info.kind != TVRT_KIND_TENSOR || info.dtype != TVRT_F32)
    throw std::runtime_error("this example feeds float tensors only");
  std::size_t count = 1;
  value.dtype = TVRT_F32;
  value.rank = info.rank;
  for (int32_t k = 0; k < info.rank; ++k) {
    value.dims[k] = info.dims[k] >= 0 ? info.dims[k] : 1;
    count *= static_cast<std::size_t>(value.dims[k]);
  }
  std::mt19937 random(0);
  std::vector<float> data(count);
  for (float& x : data) x = std::uniform_real_distribution<float>()(random);
  value.data = data.data();
  value.bytes = static_cast<int64_t>(count * sizeof(float));
  return data;
}

void time_model(const char* path, int runs) {
  Model model = open_model(path);
  Context context = create_context(model.get());
  std::vector<std::vector<float>> buffers;
  for (int32_t k = 0; k < tvrt_model_input_count(model.get()); ++k) {
    tvrt_value value = {};
    buffers.push_back(random_input(*tvrt_model_input_info(model.get(), k), value));
    check(context, tvrt_context_set_input(context.get(), k, &value));
  }
  check(context, tvrt_context_prepare(context.get()));
  const tvrt_value* result = nullptr;
  check(context, tvrt_context_output(context.get(), 0, &result));
  std::size_t count = 1;
  for (int32_t k = 0; k < result->rank; ++k)
    count *= static_cast<std::size_t>(result->dims[k] < 0 ? 0 : result->dims[k]);
  std::vector<float> output(count);
  if (count > 0 && result->dtype == TVRT_F32)
    check(context,
          tvrt_context_bind_output(context.get(), 0, output.data(), static_cast<int64_t>(count * sizeof(float))));
  for (int k = 0; k < runs; ++k) check(context, tvrt_context_run(context.get()));
  tvrt_metrics metrics = {};
  metrics.size = sizeof metrics;
  check(context, tvrt_context_metrics(context.get(), &metrics));
  std::printf("%lld runs on %d thread(s): P50 %.3f ms, P99 %.3f ms\n", static_cast<long long>(metrics.runs),
              tvrt_context_threads(context.get()), 1e-6 * static_cast<double>(metrics.p50_ns),
              1e-6 * static_cast<double>(metrics.p99_ns));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw std::runtime_error("usage: time_model MODEL.tvc [RUNS]");
  time_model(argv[1], argc > 2 ? std::atoi(argv[2]) : 100);
} catch (const std::exception& error) {
  std::fprintf(stderr, "time_model: %s\n", error.what());
  return 1;
}

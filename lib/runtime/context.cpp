// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <string.h>
#include <time.h>

#include <new>

#include "runtime/cpu.h"
#include "runtime/values.h"

namespace tvrt {
namespace {

constexpr int32_t kMaxThreads = 1024;

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// Cuts tables from one block; with data NULL it only adds up.
struct TableCutter {
  uint8_t* data;
  size_t used = 0;

  template <typename T>
  T* cut(int64_t count) {
    T* table = data ? reinterpret_cast<T*>(data + used) : nullptr;
    used += (sizeof(T) * static_cast<size_t>(count) + kAlignment - 1) / kAlignment * kAlignment;
    return table;
  }
};

size_t cut_tables(tvrt_context& c, void* data) {
  const tvrt_model& m = *c.model;
  TableCutter cutter{static_cast<uint8_t*>(data)};
  c.frame.inputs = cutter.cut<tvrt_value>(m.input_count);
  c.frame.outputs = cutter.cut<tvrt_value>(m.output_count);
  c.frame.offsets = cutter.cut<int64_t>(m.program->buffer_count);
  c.symbols = cutter.cut<int64_t>(m.symbol_count);
  c.derived = cutter.cut<int64_t>(m.symbol_count);
  c.outputs = cutter.cut<OutputBinding>(m.output_count);
  c.bound = cutter.cut<bool>(m.input_count);
  c.frame.symbols = c.symbols;
  return cutter.used;
}

void unbind(tvrt_context& context, int32_t input) {
  const ValueSpec& spec = context.model->input(input);
  tvrt_value& value = context.frame.inputs[input];
  context.bound[input] = false;
  value = {};
  value.kind = TVRT_KIND_NONE;
  if (spec.info.flags & TVRT_INFO_HAS_DEFAULT) value = spec.default_value;
}

int32_t allocate(tvrt_context& context, Message& message) {
  const tvrt_model& model = *context.model;
  context.table_bytes = cut_tables(context, nullptr);
  context.tables = context.allocator.get(context.table_bytes);
  if (!context.tables || !context.states.reserve(context.allocator, model.program->state_bytes))
    return message.set(TVRT_OUT_OF_MEMORY, "no memory for a context");
  memset(context.tables, 0, context.table_bytes);
  cut_tables(context, context.tables);
  context.frame.states = context.states.data;
  tvrt_context_reset(&context);
  for (int32_t k = 0; k < model.input_count; ++k) unbind(context, k);
  for (int32_t k = 0; k < model.output_count; ++k) {
    const tvrt_value_info& info = model.output(k).info;
    tvrt_value& value = context.frame.outputs[k];
    value.kind = info.kind;
    value.dtype = info.dtype;
    value.rank = info.rank < 0 ? 0 : info.rank;
  }
  return TVRT_OK;
}

void start_threads(tvrt_context& context, int32_t threads) {
  if (threads <= 0) threads = usable_cores();
  if (threads > kMaxThreads) threads = kMaxThreads;
  context.has_pool = threads > 1 && !context.parallel;
  context.frame.threads = context.has_pool ? context.pool.start(threads, context.allocator) : threads;
  context.frame.host = &host_services(context.frame.threads > 1);
}

int32_t set_up(tvrt_context& context, const tvrt_context_options& options, Message& message) {
  context.parallel = options.parallel;
  context.parallel_user = options.parallel_user;
  context.frame.context = &context;
  context.frame.weights = context.model->weights;
  if (int32_t status = allocate(context, message)) return status;
  start_threads(context, options.threads);
  if (context.model->symbol_count > 0) return TVRT_OK;
  int32_t status = prepare(context, context.symbols);
  if (status) message = context.message;
  return status;
}

void destroy(tvrt_context* context) {
  Allocator allocator = context->allocator;
  context->pool.stop(allocator);
  context->blocks.free_all(allocator);
  context->arena.give_back(allocator);
  context->states.give_back(allocator);
  allocator.put(context->tables, context->table_bytes);
  release(*context->model);
  context->~tvrt_context();
  allocator.put(context, sizeof *context);
}

bool same_sizes(const tvrt_value& a, const tvrt_value& b) {
  return a.kind == b.kind && a.rank == b.rank &&
         memcmp(a.dims, b.dims, sizeof(int64_t) * static_cast<size_t>(a.rank)) == 0;
}

int32_t bad_index(const tvrt_context& context, const char* what, int32_t index, int32_t count) {
  return context.message.set(TVRT_BAD_ARGUMENT, "no %s %d: the model has %d", what, index, count);
}

// Results that lie elsewhere (views, blocks of the pool) are brought into the caller's buffers.
int32_t deliver(tvrt_context& context) {
  for (int32_t k = 0; k < context.model->output_count; ++k) {
    const OutputBinding& binding = context.outputs[k];
    tvrt_value& value = context.frame.outputs[k];
    if (!binding.data || value.kind != TVRT_KIND_TENSOR) continue;
    int64_t bytes = tensor_bytes(value.dtype, value.rank, value.dims);
    if (bytes > binding.bytes)
      return context.message.set(TVRT_BAD_ARGUMENT,
                                 "output '%.64s' is %s and needs %lld bytes, the bound buffer has %lld",
                                 context.model->output(k).info.name, describe(value).text,
                                 static_cast<long long>(bytes), static_cast<long long>(binding.bytes));
    if (value.data == binding.data || bytes < 0) continue;
    memcpy(binding.data, value.data, static_cast<size_t>(bytes));
    value.data = binding.data;
  }
  return TVRT_OK;
}

int32_t run(tvrt_context& context) {
  int64_t begin = now_ns();
  if (int32_t status = settle(context)) return status;
  context.blocks.release_all();
  context.has_run = false;
  for (int32_t k = 0; k < context.model->output_count; ++k) {
    context.frame.outputs[k].data = context.outputs[k].data;
    context.frame.outputs[k].bytes = context.outputs[k].bytes;
  }
  context.message.text[0] = 0;
  if (int32_t status = context.model->program->run(&context.frame)) {
    if (!context.message.text[0]) context.message.set(status, "the run failed: %s", tvrt_status_text(status));
    return status;
  }
  if (int32_t status = deliver(context)) return status;
  context.has_run = true;
  context.durations.add(now_ns() - begin);
  return TVRT_OK;
}

}  // namespace
}  // namespace tvrt

using namespace tvrt;

tvrt_status tvrt_context_create(tvrt_model* model, const tvrt_context_options* given, tvrt_context** out) {
  Message& message = thread_message();
  if (!model || !out)
    return message.set(TVRT_BAD_ARGUMENT, "tvrt_context_create needs a model and a place for the context");
  tvrt_context_options options = {};
  if (given) memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
  if (!options.allocate != !options.deallocate)
    return message.set(TVRT_BAD_ARGUMENT, "an allocator needs both of its functions");
  Allocator allocator =
      options.allocate ? Allocator{options.allocate, options.deallocate, options.allocator_user} : default_allocator();
  void* memory = allocator.get(sizeof(tvrt_context));
  if (!memory) return message.set(TVRT_OUT_OF_MEMORY, "no memory for a context");
  tvrt_context* context = new (memory) tvrt_context;
  context->model = model;
  context->allocator = allocator;
  retain(*model);
  if (int32_t status = set_up(*context, options, message)) {
    destroy(context);
    return status;
  }
  *out = context;
  return TVRT_OK;
}

void tvrt_context_destroy(tvrt_context* context) {
  if (context) destroy(context);
}

tvrt_status tvrt_context_set_input(tvrt_context* context, int32_t index, const tvrt_value* value) {
  if (index < 0 || index >= context->model->input_count)
    return bad_index(*context, "input", index, context->model->input_count);
  tvrt_value& place = context->frame.inputs[index];
  if (!value) {
    unbind(*context, index);
    context->stale = true;
    return TVRT_OK;
  }
  if (int32_t status = check_value(context->model->input(index), *value, context->message)) return status;
  if (!context->bound[index] || !same_sizes(place, *value)) context->stale = true;
  context->bound[index] = true;
  place = *value;
  return TVRT_OK;
}

tvrt_status tvrt_context_bind_output(tvrt_context* context, int32_t index, void* data, int64_t bytes) {
  const tvrt_model& model = *context->model;
  if (index < 0 || index >= model.output_count) return bad_index(*context, "output", index, model.output_count);
  const tvrt_value_info& info = model.output(index).info;
  if (data && (info.kind != TVRT_KIND_TENSOR || info.dtype == TVRT_STRING))
    return context->message.set(TVRT_BAD_ARGUMENT, "output '%.64s' is %s, which cannot be bound", info.name,
                                describe(model.output(index)).text);
  if (bytes < 0)
    return context->message.set(TVRT_BAD_ARGUMENT, "output '%.64s': a buffer of %lld bytes", info.name,
                                static_cast<long long>(bytes));
  context->outputs[index].data = data;
  context->outputs[index].bytes = data ? bytes : 0;
  return TVRT_OK;
}

tvrt_status tvrt_context_prepare(tvrt_context* context) {
  if (int32_t status = settle(*context)) return status;
  for (int32_t k = 0; k < context->model->output_count; ++k) {  // sizes that the last run found say nothing of the next
    if (context->outputs[k].sized) continue;
    for (int64_t& dim : context->frame.outputs[k].dims) dim = -1;
    context->has_run = false;
  }
  return TVRT_OK;
}

tvrt_status tvrt_context_reserve(tvrt_context* context, const int64_t* symbols) {
  if (!symbols && context->model->symbol_count > 0)
    return context->message.set(TVRT_BAD_ARGUMENT, "no symbols are given");
  context->stale = true;
  return prepare(*context, symbols ? symbols : context->symbols);
}

tvrt_status tvrt_context_run(tvrt_context* context) { return run(*context); }

tvrt_status tvrt_context_output(tvrt_context* context, int32_t index, const tvrt_value** value) {
  if (index < 0 || index >= context->model->output_count)
    return bad_index(*context, "output", index, context->model->output_count);
  if (!value) return context->message.set(TVRT_BAD_ARGUMENT, "no place for the output");
  if (!context->prepared)
    return context->message.set(TVRT_BAD_ARGUMENT, "output '%.64s' has no size yet",
                                context->model->output(index).info.name);
  if (!context->has_run) context->frame.outputs[index].data = nullptr;
  *value = &context->frame.outputs[index];
  return TVRT_OK;
}

void tvrt_context_reset(tvrt_context* context) {
  if (context->states.bytes > 0) memset(context->states.data, 0, static_cast<size_t>(context->states.bytes));
}

const char* tvrt_context_error(const tvrt_context* context) { return context->message.text; }
int32_t tvrt_context_threads(const tvrt_context* context) { return context->frame.threads; }

tvrt_status tvrt_context_metrics(const tvrt_context* context, tvrt_metrics* metrics) {
  if (!metrics || metrics->size < sizeof(size_t))
    return context->message.set(TVRT_BAD_ARGUMENT, "metrics need a struct with its size set");
  const Durations& durations = context->durations;
  tvrt_metrics all = {};
  all.size = metrics->size < sizeof all ? metrics->size : sizeof all;
  all.runs = durations.count();
  all.p50_ns = durations.percentile(0.50);
  all.p95_ns = durations.percentile(0.95);
  all.p99_ns = durations.percentile(0.99);
  all.arena_bytes = context->arena.bytes;
  all.pool_bytes = context->blocks.bytes();
  all.state_bytes = context->states.bytes;
  all.weight_bytes = context->model->weight_bytes;
  memcpy(metrics, &all, all.size);
  return TVRT_OK;
}

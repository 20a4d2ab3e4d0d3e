// SPDX-License-Identifier: Apache-2.0
// Free dimensions: their values from the bound inputs, and memory for them.
#include <string.h>

#include "runtime/context.h"
#include "runtime/values.h"

namespace tvrt {
namespace {

using Wide = long long;

int32_t check_range(const tvrt_context& context, int32_t symbol, int64_t value) {
  const tvrt_symbol_info& info = context.model->symbols[symbol];
  if (value >= info.low && value <= info.high) return TVRT_OK;
  return context.message.set(TVRT_BAD_ARGUMENT, "dimension '%.64s' is %lld, the model was compiled for %lld to %lld",
                             info.source_name, Wide{value}, Wide{info.low}, Wide{info.high});
}

bool is_tensor(const tvrt_context& context, int32_t input) {
  return context.frame.inputs[input].kind == TVRT_KIND_TENSOR && context.model->input(input).info.rank >= 0;
}

// The first input that gives this symbol, for messages.
const char* giver_of(const tvrt_context& context, int32_t symbol) {
  for (int32_t k = 0; k < context.model->input_count; ++k) {
    const ValueSpec& spec = context.model->input(k);
    for (int32_t axis = 0; axis < spec.info.rank; ++axis)
      if (spec.dims[axis].symbol == symbol) return spec.info.name;
  }
  return "";
}

int32_t take_symbols(tvrt_context& context, int32_t input) {
  const ValueSpec& spec = context.model->input(input);
  for (int32_t axis = 0; axis < spec.info.rank; ++axis) {
    int32_t symbol = spec.dims[axis].symbol;
    if (symbol < 0) continue;
    int64_t size = context.frame.inputs[input].dims[axis];
    if (context.derived[symbol] < 0) {
      context.derived[symbol] = size;
      if (int32_t status = check_range(context, symbol, size)) return status;
    } else if (context.derived[symbol] != size) {
      return context.message.set(TVRT_BAD_ARGUMENT,
                                 "input '%.64s' has %lld in dimension %d, where input '%.64s' gives '%.64s' = %lld",
                                 spec.info.name, Wide{size}, axis, giver_of(context, symbol),
                                 context.model->symbols[symbol].source_name, Wide{context.derived[symbol]});
    }
  }
  return TVRT_OK;
}

int32_t check_expressions(tvrt_context& context, int32_t input) {
  const tvrt_model& model = *context.model;
  const ValueSpec& spec = model.input(input);
  for (int32_t axis = 0; axis < spec.info.rank; ++axis) {
    int64_t expected = 0, size = context.frame.inputs[input].dims[axis];
    if (!spec.dims[axis].code) continue;
    bool valid = evaluate(*spec.dims[axis].code, context.derived, model.symbol_count, &expected);
    if (!valid || expected != size)
      return context.message.set(TVRT_BAD_ARGUMENT, "input '%.64s' has %lld in dimension %d, where %.64s is %lld",
                                 spec.info.name, Wide{size}, axis,
                                 spec.dim_names[axis] ? spec.dim_names[axis] : "its expression", Wide{expected});
  }
  return TVRT_OK;
}

int32_t derive_symbols(tvrt_context& context) {
  const tvrt_model& model = *context.model;
  for (int32_t s = 0; s < model.symbol_count; ++s) context.derived[s] = -1;
  for (int32_t k = 0; k < model.input_count; ++k) {
    uint32_t flags = model.input(k).info.flags;
    if (!context.bound[k] && !(flags & (TVRT_INFO_HAS_DEFAULT | TVRT_INFO_OPTIONAL)))
      return context.message.set(TVRT_BAD_ARGUMENT, "input '%.64s' is not set", model.input(k).info.name);
    if (!is_tensor(context, k)) continue;
    if (int32_t status = take_symbols(context, k)) return status;
  }
  for (int32_t s = 0; s < model.symbol_count; ++s)
    if (context.derived[s] < 0)
      return context.message.set(TVRT_BAD_ARGUMENT, "no input gives dimension '%.64s'", model.symbols[s].source_name);
  for (int32_t k = 0; k < model.input_count; ++k)
    if (is_tensor(context, k))
      if (int32_t status = check_expressions(context, k)) return status;
  return TVRT_OK;
}

}  // namespace

int32_t prepare(tvrt_context& context, const int64_t* symbols) {
  const tvrt_model& model = *context.model;
  for (int32_t s = 0; s < model.symbol_count; ++s)
    if (int32_t status = check_range(context, s, symbols[s])) return status;
  size_t bytes = static_cast<size_t>(model.symbol_count) * sizeof *symbols;
  if (context.prepared && memcmp(context.symbols, symbols, bytes) == 0) return TVRT_OK;
  context.prepared = context.has_run = false;
  memmove(context.symbols, symbols, bytes);
  for (int32_t k = 0; k < model.output_count; ++k)
    for (int64_t& dim : context.frame.outputs[k].dims) dim = -1;
  context.message.text[0] = 0;
  if (int32_t status = model.program->prepare(&context.frame)) {
    if (!context.message.text[0]) context.message.set(status, "the model cannot be prepared for these sizes");
    return status;
  }
  for (int32_t k = 0; k < model.output_count; ++k) {
    const tvrt_value& value = context.frame.outputs[k];
    context.outputs[k].sized = true;
    for (int32_t axis = 0; axis < value.rank; ++axis) context.outputs[k].sized &= value.dims[axis] >= 0;
  }
  int64_t wanted = context.frame.arena_bytes;
  if (wanted < 0 || !context.arena.reserve(context.allocator, wanted))
    return context.message.set(TVRT_OUT_OF_MEMORY, "no memory for an arena of %lld bytes", Wide{wanted});
  context.frame.arena = context.arena.data;
  context.prepared = true;
  return TVRT_OK;
}

int32_t settle(tvrt_context& context) {
  if (!context.stale) return TVRT_OK;
  if (int32_t status = derive_symbols(context)) return status;
  if (int32_t status = prepare(context, context.derived)) return status;
  context.stale = false;
  return TVRT_OK;
}

}  // namespace tvrt

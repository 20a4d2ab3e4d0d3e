// SPDX-License-Identifier: Apache-2.0
#include "runtime/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <new>

#include "runtime/artifact.h"

#ifndef TVRT_VERSION
#define TVRT_VERSION 0
#endif

namespace tvrt {

Message& thread_message() {
  static __thread Message message;
  return message;
}

void retain(tvrt_model& model) { model.references.fetch_add(1, std::memory_order_relaxed); }

void release(tvrt_model& model) {
  if (model.references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  model.code.unload();
  if (model.mapped_size) munmap(const_cast<uint8_t*>(model.file), model.mapped_size);
  ::free(model.copy);
  ::free(model.values);
  ::free(model.symbols);
  ::free(model.default_strings);
  model.~tvrt_model();
  ::free(&model);
}

namespace {

int32_t load_program(tvrt_model& model, const tvrt_model_options& options, const artifact::Variant* variant,
                     Message& message) {
  model.program = options.program;
  if (variant) {
    const artifact::Section& code = *variant->code();
    if (int32_t status = model.code.load(model.file + code.offset(), code.size(), &model.program, message))
      return status;
  }
  if (!model.program) return message.set(TVRT_BAD_ARTIFACT, "there is no code");
  const tvrt_program& p = *model.program;
  if (p.abi_version > TVRT_ABI_VERSION)
    return message.set(TVRT_UNSUPPORTED, "the code is of ABI version %u, this runtime of %u", p.abi_version,
                       TVRT_ABI_VERSION);
  bool same = p.input_count == model.input_count && p.output_count == model.output_count &&
              p.symbol_count == model.symbol_count;
  if (!same || p.buffer_count < 0 || p.state_bytes < 0 || !p.prepare || !p.run)
    return message.set(TVRT_BAD_ARTIFACT, "the code does not belong to this manifest");
  return TVRT_OK;
}

int32_t open_model(tvrt_model& model, const tvrt_model_options& options, Message& message) {
  const artifact::Variant* variant = nullptr;
  if (int32_t status = read_artifact(model, options, &variant, message)) return status;
  return load_program(model, options, variant, message);
}

// Fields that a caller built against an older header does not have stay zero.
tvrt_model_options complete(const tvrt_model_options* given) {
  tvrt_model_options options = {};
  if (given) memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
  return options;
}

int32_t open_any(const char* path, const void* bytes, size_t size, const tvrt_model_options* options,
                 tvrt_model** out) {
  Message& message = thread_message();
  void* memory = malloc(sizeof(tvrt_model));
  if (!memory) return message.set(TVRT_OUT_OF_MEMORY, "no memory for a model");
  tvrt_model* model = new (memory) tvrt_model;
  int32_t status = path ? map_file(*model, path, message) : take_bytes(*model, bytes, size, message);
  if (!status) status = open_model(*model, complete(options), message);
  if (status) release(*model);
  else *out = model;
  return status;
}

bool in_range(int32_t index, int32_t count) { return index >= 0 && index < count; }

}  // namespace
}  // namespace tvrt

using tvrt::in_range;

uint32_t tvrt_version(void) { return TVRT_VERSION; }

const char* tvrt_status_text(tvrt_status status) {
  static const char* const kTexts[] = {"ok",         "bad argument", "bad artifact",          "out of memory",
                                       "run failed", "unsupported",  "input or output failed"};
  return status >= 0 && status < 7 ? kTexts[status] : "unknown status";
}

const char* tvrt_last_error(void) { return tvrt::thread_message().text; }

tvrt_status tvrt_model_open(const char* path, const tvrt_model_options* options, tvrt_model** model) {
  if (!path || !model)
    return tvrt::thread_message().set(TVRT_BAD_ARGUMENT, "tvrt_model_open needs a path and a place for the model");
  return tvrt::open_any(path, nullptr, 0, options, model);
}

tvrt_status tvrt_model_open_bytes(const void* bytes, size_t size, const tvrt_model_options* options,
                                  tvrt_model** model) {
  if (!bytes || !model)
    return tvrt::thread_message().set(TVRT_BAD_ARGUMENT, "tvrt_model_open_bytes needs bytes and a place for the model");
  return tvrt::open_any(nullptr, bytes, size, options, model);
}

void tvrt_model_close(tvrt_model* model) {
  if (model) tvrt::release(*model);
}

int32_t tvrt_model_input_count(const tvrt_model* model) { return model->input_count; }
int32_t tvrt_model_output_count(const tvrt_model* model) { return model->output_count; }
int32_t tvrt_model_symbol_count(const tvrt_model* model) { return model->symbol_count; }

const tvrt_value_info* tvrt_model_input_info(const tvrt_model* model, int32_t index) {
  return in_range(index, model->input_count) ? &model->input(index).info : nullptr;
}

const tvrt_value_info* tvrt_model_output_info(const tvrt_model* model, int32_t index) {
  return in_range(index, model->output_count) ? &model->output(index).info : nullptr;
}

const tvrt_symbol_info* tvrt_model_symbol_info(const tvrt_model* model, int32_t index) {
  return in_range(index, model->symbol_count) ? &model->symbols[index] : nullptr;
}

const char* tvrt_model_target(const tvrt_model* model) { return model->target; }

const char* tvrt_model_metadata(const tvrt_model* model, const char* key) {
  const auto* entries = model->manifest->metadata();
  for (uint32_t k = 0; entries && key && k < entries->size(); ++k)
    if (tvrt::same_text(*entries->Get(k)->key(), key)) return entries->Get(k)->value()->c_str();
  return nullptr;
}

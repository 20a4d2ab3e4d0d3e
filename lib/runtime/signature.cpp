// SPDX-License-Identifier: Apache-2.0
// The manifest's inputs, outputs and symbols as the tables that the API hands out.
#include <stdlib.h>
#include <string.h>

#include "runtime/artifact.h"
#include "runtime/values.h"

namespace tvrt {
namespace {

template <typename List>
int32_t count_of(const List* list) {
  return list ? static_cast<int32_t>(list->size()) : 0;
}

int32_t bad(const artifact::Value& value, const char* what, Message& message) {
  return message.set(TVRT_BAD_ARTIFACT, "the manifest's value '%.64s' has %s", value.name()->c_str(), what);
}

int32_t read_dim(const tvrt_model& model, const artifact::Value& value, int32_t axis, ValueSpec& spec,
                 Message& message) {
  const artifact::Dim& dim = *value.shape()->Get(static_cast<uint32_t>(axis));
  DimSpec& out = spec.dims[axis];
  out = DimSpec{};
  if (dim.symbol() >= model.symbol_count || dim.symbol() < -1 || dim.value() < -1)
    return bad(value, "a malformed size", message);
  if (dim.symbol() >= 0) out.symbol = dim.symbol();
  else if (dim.code()) out.code = dim.code();
  else out.constant = dim.value();
  spec.dim_values[axis] = out.constant;
  spec.dim_symbols[axis] = out.symbol;
  spec.dim_names[axis] = out.constant < 0 && dim.text() ? dim.text()->c_str() : nullptr;
  return TVRT_OK;
}

// Strings of a default: sizes, then texts.
int32_t read_default_strings(const artifact::Value& value, const uint8_t* bytes, int64_t size, int64_t count,
                             tvrt_string* out, Message& message) {
  int64_t at = count * 8;
  if (at > size) return bad(value, "a malformed default", message);
  for (int64_t k = 0; k < count; ++k) {
    uint64_t length;
    memcpy(&length, bytes + 8 * k, sizeof length);
    if (length > static_cast<uint64_t>(size - at)) return bad(value, "a malformed default", message);
    out[k] = {reinterpret_cast<const char*>(bytes + at), static_cast<int64_t>(length)};
    at += static_cast<int64_t>(length);
  }
  return TVRT_OK;
}

int32_t read_default(tvrt_model& model, const artifact::Value& value, ValueSpec& spec, int64_t* strings,
                     Message& message) {
  const artifact::Default& stored = *value.default_value();
  tvrt_value& out = spec.default_value;
  out = tvrt_value{};
  out.kind = TVRT_KIND_TENSOR;
  out.dtype = spec.info.dtype;
  out.rank = count_of(stored.dims());
  if (spec.info.kind != TVRT_KIND_TENSOR || out.rank > TVRT_MAX_RANK) return bad(value, "a malformed default", message);
  for (int32_t k = 0; k < out.rank; ++k) out.dims[k] = stored.dims()->Get(static_cast<uint32_t>(k));
  int64_t offset = stored.offset(), size = stored.bytes();
  bool inside = offset >= 0 && size >= 0 && offset <= model.weight_bytes && size <= model.weight_bytes - offset;
  out.bytes = tensor_bytes(out.dtype, out.rank, out.dims);
  if (!inside || out.bytes < 0) return bad(value, "a default outside of the weights", message);
  const uint8_t* bytes = model.weights + offset;
  if (out.dtype == TVRT_STRING) {
    int64_t count = out.bytes / static_cast<int64_t>(sizeof(tvrt_string));
    if (count > size / 8) return bad(value, "a malformed default", message);
    out.data = model.default_strings + *strings;
    *strings += count;
    if (int32_t status = read_default_strings(value, bytes, size, count, static_cast<tvrt_string*>(out.data), message))
      return status;
  } else {
    if (out.bytes != size) return bad(value, "a default of another size", message);
    out.data = const_cast<uint8_t*>(bytes);  // inputs are only read
  }
  spec.info.flags |= TVRT_INFO_HAS_DEFAULT;
  return check_value(spec, out, message) ? bad(value, "a default that does not fit it", message) : TVRT_OK;
}

int32_t read_value(const tvrt_model& model, const artifact::Value& value, ValueSpec& spec, Message& message) {
  using artifact::ValueKind;
  spec.info.name = value.name()->c_str();
  spec.info.dtype = value.dtype();
  spec.info.dims = spec.dim_values;
  spec.info.dim_names = spec.dim_names;
  spec.info.dim_symbols = spec.dim_symbols;
  if (element_bits(spec.info.dtype) == 0) return bad(value, "an unknown type", message);
  ValueKind kind = value.kind();
  uint32_t inner = 0;
  if (kind == ValueKind::optional) {
    spec.info.flags |= TVRT_INFO_OPTIONAL;
    kind = count_of(value.inner()) > 0 ? value.inner()->Get(inner++) : ValueKind::tensor;
  }
  spec.info.kind = kind == ValueKind::sequence ? TVRT_KIND_SEQUENCE : TVRT_KIND_TENSOR;
  spec.holds_sequences = kind == ValueKind::sequence && static_cast<uint32_t>(count_of(value.inner())) > inner &&
                         value.inner()->Get(inner) != ValueKind::tensor;
  if (value.kind() != ValueKind::tensor) {
    spec.info.rank = -1;
    return TVRT_OK;
  }
  spec.info.rank = count_of(value.shape());
  if (spec.info.rank > TVRT_MAX_RANK) return bad(value, "more than 8 dimensions", message);
  for (int32_t k = 0; k < spec.info.rank; ++k)
    if (int32_t status = read_dim(model, value, k, spec, message)) return status;
  return TVRT_OK;
}

// Strings among the defaults, each of at least 8 bytes in the weights.
int64_t count_default_strings(const tvrt_model& model) {
  int64_t count = 0;
  for (int32_t k = 0; k < model.input_count; ++k) {
    const artifact::Value& value = *model.manifest->inputs()->Get(static_cast<uint32_t>(k));
    if (!value.default_value() || value.dtype() != TVRT_STRING) continue;
    int64_t size = value.default_value()->bytes();
    if (size > 0 && size <= model.weight_bytes) count += size / 8;
  }
  return count;
}

bool allocate_tables(tvrt_model& model) {
  auto values = static_cast<size_t>(model.input_count) + static_cast<size_t>(model.output_count);
  int64_t strings = count_default_strings(model);
  model.values = static_cast<ValueSpec*>(calloc(values + 1, sizeof(ValueSpec)));
  model.symbols =
      static_cast<tvrt_symbol_info*>(calloc(static_cast<size_t>(model.symbol_count) + 1, sizeof(tvrt_symbol_info)));
  if (strings > 0)
    model.default_strings = static_cast<tvrt_string*>(calloc(static_cast<size_t>(strings), sizeof(tvrt_string)));
  return model.values && model.symbols && (strings == 0 || model.default_strings);
}

}  // namespace

int32_t read_signature(tvrt_model& model, Message& message) {
  const artifact::Manifest& manifest = *model.manifest;
  model.input_count = count_of(manifest.inputs());
  model.output_count = count_of(manifest.outputs());
  model.symbol_count = count_of(manifest.symbols());
  if (!allocate_tables(model)) return message.set(TVRT_OUT_OF_MEMORY, "no memory for the model's tables");
  for (int32_t k = 0; k < model.symbol_count; ++k) {
    const artifact::Symbol& symbol = *manifest.symbols()->Get(static_cast<uint32_t>(k));
    model.symbols[k] = {symbol.name()->c_str(), symbol.source_name()->c_str(), symbol.low(), symbol.high()};
  }
  int64_t strings = 0;
  for (int32_t k = 0; k < model.input_count; ++k) {
    const artifact::Value& value = *manifest.inputs()->Get(static_cast<uint32_t>(k));
    if (int32_t status = read_value(model, value, model.values[k], message)) return status;
    if (!value.default_value()) continue;
    if (int32_t status = read_default(model, value, model.values[k], &strings, message)) return status;
  }
  for (int32_t k = 0; k < model.output_count; ++k) {
    const artifact::Value& value = *manifest.outputs()->Get(static_cast<uint32_t>(k));
    if (int32_t status = read_value(model, value, model.values[model.input_count + k], message)) return status;
  }
  return TVRT_OK;
}

}  // namespace tvrt

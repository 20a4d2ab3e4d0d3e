// SPDX-License-Identifier: Apache-2.0
// An open artifact: what contexts share.
#pragma once

#include <string.h>

#include <atomic>

#include "formats/artifact/manifest_generated.h"
#include "runtime/code.h"
#include "runtime/message.h"
#include "runtime/tvrt.h"

namespace tvrt {

namespace artifact = tvc::artifact;

// One declared dimension: a constant, a symbol's index, an expression of symbols, or none of these (free).
struct DimSpec {
  int64_t constant = -1;
  int32_t symbol = -1;
  const flatbuffers::Vector<int64_t>* code = nullptr;
};

struct ValueSpec {
  tvrt_value_info info;
  bool holds_sequences = false;  // the items are sequences in turn; they are not looked into
  DimSpec dims[TVRT_MAX_RANK];
  int64_t dim_values[TVRT_MAX_RANK];
  const char* dim_names[TVRT_MAX_RANK];
  int32_t dim_symbols[TVRT_MAX_RANK];
  tvrt_value default_value;  // where info.flags says so
};

// Not by String::c_str(): it points behind a one-field struct, which g++ takes for a read out of bounds.
inline bool same_text(const flatbuffers::String& a, const char* b) {
  size_t size = strlen(b);
  return a.size() == size && memcmp(reinterpret_cast<const char*>(&a) + sizeof(flatbuffers::uoffset_t), b, size) == 0;
}

// The error of open and create, which have no object yet to keep it.
Message& thread_message();

// Who holds a model: the caller who opened it, and each context. The last release unloads it.
void retain(tvrt_model& model);
void release(tvrt_model& model);

}  // namespace tvrt

struct tvrt_model {
  std::atomic<int32_t> references{1};
  const uint8_t* file = nullptr;
  size_t file_size = 0;
  size_t mapped_size = 0;  // 0: the bytes are the caller's
  const tvrt::artifact::Manifest* manifest = nullptr;
  const uint8_t* weights = nullptr;
  int64_t weight_bytes = 0;
  void* copy = nullptr;  // of the caller's bytes
  const char* target = "";
  tvrt::LoadedCode code;
  const tvrt_program* program = nullptr;
  int32_t input_count = 0, output_count = 0, symbol_count = 0;
  tvrt::ValueSpec* values = nullptr;  // inputs, then outputs
  tvrt_symbol_info* symbols = nullptr;
  tvrt_string* default_strings = nullptr;

  const tvrt::ValueSpec& input(int32_t k) const { return values[k]; }
  const tvrt::ValueSpec& output(int32_t k) const { return values[input_count + k]; }
};

// SPDX-License-Identifier: Apache-2.0
// From bytes to a checked manifest: nothing in the file is believed before it is in bounds and its hash is right.
#pragma once

#include "runtime/model.h"

namespace tvrt {

int32_t map_file(tvrt_model& model, const char* path, Message& message);
// Uses the caller's bytes where they lie if they are aligned, else a copy.
int32_t take_bytes(tvrt_model& model, const void* bytes, size_t size, Message& message);
// Checks header, manifest, and the sections that options ask for; finds weights, signature and the variant to use.
// `variant` stays NULL where the caller brings the program.
int32_t read_artifact(tvrt_model& model, const tvrt_model_options& options, const artifact::Variant** variant,
                      Message& message);
// Fills the tables of inputs, outputs and symbols.
int32_t read_signature(tvrt_model& model, Message& message);

}  // namespace tvrt

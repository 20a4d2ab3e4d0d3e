// SPDX-License-Identifier: Apache-2.0
// Reads an ONNX model: IR versions from 3 on, opsets from 7 on, external data, model-local functions.
//
// In order: parse, onnx's checker, local functions inlined, shape inference, every node brought to the newest opset's
// form, operators without a definition of ours expanded by their schema's function body, and the graph built. Weights
// are views into the file's bytes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace tvc::onnx_format {

struct ImportOptions {
  std::map<std::string, std::vector<int64_t>> shapes;  // of inputs; -1 leaves a dimension as it is
  std::map<std::string, std::pair<int64_t, int64_t>>
      dims;  // lowest and highest value of a free dimension; equal: fixed
};

// bad_input: the file is no valid model. unsupported: names every node that has no definition.
Result<ir::Module> import_model(const std::filesystem::path& path, const ImportOptions& options,
                                Diagnostics& diagnostics);

}  // namespace tvc::onnx_format

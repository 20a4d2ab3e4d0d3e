// SPDX-License-Identifier: Apache-2.0
// From a model file to an optimised module: what compile and inspect share.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "codegen/target.h"
#include "ir/ir.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace tvc::tool {

struct ModelOptions {
  std::string model;
  std::vector<std::string> shapes;  // NAME=1x3x224x224, -1 or ? leaves a dimension free
  std::vector<std::string> dims;    // NAME=4 or NAME=1..8
};

struct PassOptions {
  std::vector<std::string> disabled;
  std::vector<std::string> dump_after;
  std::string dump_folder;  // "": none
  bool verify = false;
};

// Makes a folder for results, and those above it.
Result<void> make_folder(const std::filesystem::path& folder);
Result<ir::Module> read_model(const ModelOptions& options, Diagnostics& diagnostics);
// Runs the pipeline for a target. Dumps go to the folder, or to standard error.
Result<void> optimise(ir::Module& module, const codegen::Target& target, const PassOptions& options,
                      Diagnostics& diagnostics);

}  // namespace tvc::tool

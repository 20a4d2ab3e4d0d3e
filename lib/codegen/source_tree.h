// SPDX-License-Identifier: Apache-2.0
// The emitted C of one variant as files, and its way to a shared object.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "codegen/host/program.h"
#include "codegen/target.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace tvc::codegen {

struct SourceTree {
  std::map<std::string, std::string> files;  // by path inside the tree
  std::vector<std::string> units;            // the .c files among them
};

// Emits the module for the target; weights are added to the section that all variants share.
Result<SourceTree> emit_source(const ir::Module& module, const Target& target, WeightSection& weights,
                               Diagnostics& diagnostics);

struct BuildOptions {
  int jobs = 0;  // 0: all cores
  std::string compiler = "cc";
  std::filesystem::path cache_folder;     // "": no cache
  bool shared = true;                     // a shared object, else a relocatable one (static linking)
  std::vector<std::string> globals = {};  // of a relocatable one: the only symbols that other objects see
};
// Compiles the units (each through the cache) and links them.
Result<std::vector<std::byte>> build_object(const SourceTree& tree, const Target& target, const BuildOptions& options,
                                            Diagnostics& diagnostics);

}  // namespace tvc::codegen

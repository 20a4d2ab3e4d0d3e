// SPDX-License-Identifier: Apache-2.0
// Artifacts with hand-written code, compiled with cc.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "formats/artifact/writer.h"

namespace tests {

// A folder that goes away.
struct Folder {
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

// The shared object of this C text, which includes "abi.h".
std::vector<std::byte> compile(const std::string& text);

// y[n, 4] = a[n, 4] * weight[4] + b[n, 4] (b: zeros by default), z[?]: as many ones as y has elements > 0.
// State: the number of runs so far, in `runs` i64[].
tvc::ir::Module small_module();
extern const char* const kSmallProgram;
// Writes it to folder/model.tvc; variants: {target, features} of which all have the same code.
std::filesystem::path write_small_model(const Folder& folder,
                                        const std::vector<tvc::CodeVariant>& variants = {{"any", {}, {}}});

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
// Writes a .tvc artifact; manifest.fbs says what is in one. Equal contents give equal bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "support/result.h"

namespace tvc {

// The object of one target; the loader takes the first variant whose features the machine has.
struct CodeVariant {
  std::string target;
  std::vector<std::string> features;
  std::vector<std::byte> object;  // a shared object that exports TVRT_QUERY_SYMBOL
};

struct WeightPiece {
  int64_t offset;  // in the weight section
  std::span<const std::byte> bytes;
};

struct ArtifactContents {
  const ir::Module* module = nullptr;  // its main graph's inputs and outputs, and its symbols
  std::vector<WeightPiece> weights;
  int64_t weight_bytes = 0;
  std::vector<CodeVariant> variants;
  std::map<std::string, std::string> metadata;
};

// An error leaves no file behind, and an older one at `path` as it was.
Result<void> write_artifact(const std::filesystem::path& path, const ArtifactContents& contents);

}  // namespace tvc

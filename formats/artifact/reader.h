// SPDX-License-Identifier: Apache-2.0
// What a .tvc artifact says of itself, every hash checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "support/result.h"

namespace tvc {

struct ArtifactValue {
  std::string name;
  std::string kind;  // "tensor", "sequence", "optional tensor", "optional sequence"
  ir::DType dtype = ir::DType::kUndefined;
  std::vector<std::string> dims;  // "3", "batch", "2*batch + 1"
  bool has_default = false;
};

struct ArtifactSymbol {
  std::string name, source_name;
  int64_t low = 0, high = 0;
};

struct ArtifactVariant {
  std::string target;
  std::vector<std::string> features;
  int64_t bytes = 0;
};

struct ArtifactInfo {
  std::vector<ArtifactValue> inputs, outputs;
  std::vector<ArtifactSymbol> symbols;
  std::vector<ArtifactVariant> variants;
  std::map<std::string, std::string> metadata;
  int64_t file_bytes = 0, weight_bytes = 0, manifest_bytes = 0;
};

// Whether the file starts as an artifact does.
bool is_artifact(const std::filesystem::path& path);
Result<ArtifactInfo> read_artifact(const std::filesystem::path& path);

}  // namespace tvc

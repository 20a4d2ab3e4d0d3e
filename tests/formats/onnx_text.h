// SPDX-License-Identifier: Apache-2.0
// Models for the importer's tests, written in onnx's own text form.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/onnx/import.h"

namespace tvc::test {

// A folder that goes when the object does.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::filesystem::path path;
};

onnx::ModelProto model_from_text(const char* text);  // fails the test where the text is malformed
Result<ir::Module> import_bytes(const std::string& bytes, const onnx_format::ImportOptions& options = {});
Result<ir::Module> import_proto(const onnx::ModelProto& model, const onnx_format::ImportOptions& options = {});
Result<ir::Module> import_text(const char* text, const onnx_format::ImportOptions& options = {});

std::vector<std::string> ops_of(const ir::Module& module);                        // of the main graph, in order
const ir::Node* find_node(const ir::Module& module, std::string_view op);         // the first of any graph, or null
std::vector<int64_t> constant_ints(const ir::Module& module, ir::ValueId value);  // {-1} where it is no constant
std::string shape_of(const ir::Module& module, size_t input);                     // "batch,3,8"

}  // namespace tvc::test

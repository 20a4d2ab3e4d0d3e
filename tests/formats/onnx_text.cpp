// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx_text.h"

#include <doctest/doctest.h>
#include <onnx/defs/parser.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

namespace tvc::test {

ScratchFolder::ScratchFolder() {
  static std::atomic<int> count = 0;
  path = std::filesystem::temp_directory_path() / fmt::format("tvc_onnx_{}_{}", getpid(), count++);
  std::filesystem::create_directories(path);
}

ScratchFolder::~ScratchFolder() {
  std::error_code code;
  std::filesystem::remove_all(path, code);
}

onnx::ModelProto model_from_text(const char* text) {
  onnx::ModelProto model;
  auto status = onnx::OnnxParser::Parse(model, text);
  REQUIRE_MESSAGE(status.IsOK(), status.ErrorMessage());
  return model;
}

Result<ir::Module> import_bytes(const std::string& bytes, const onnx_format::ImportOptions& options) {
  const ScratchFolder folder;
  const auto file = folder.path / "model.onnx";
  std::ofstream(file, std::ios::binary) << bytes;
  CollectedDiagnostics diagnostics;
  auto module = onnx_format::import_model(file, options, diagnostics);
  if (module.ok()) {
    auto verified = ir::verify(*module);
    REQUIRE_MESSAGE(verified.ok(), verified.error().text());
  } else {
    CHECK(module.error().place.find("model.onnx") != std::string::npos);
  }
  return module;
}

Result<ir::Module> import_proto(const onnx::ModelProto& model, const onnx_format::ImportOptions& options) {
  return import_bytes(model.SerializeAsString(), options);
}

Result<ir::Module> import_text(const char* text, const onnx_format::ImportOptions& options) {
  return import_proto(model_from_text(text), options);
}

std::vector<std::string> ops_of(const ir::Module& module) {
  std::vector<std::string> ops;
  for (ir::NodeId id : module.main().nodes) ops.push_back(module.node(id).op);
  return ops;
}

const ir::Node* find_node(const ir::Module& module, std::string_view op) {
  for (const auto& graph : module.graphs)
    for (ir::NodeId id : graph.nodes)
      if (module.node(id).op == op) return &module.node(id);
  return nullptr;
}

std::vector<int64_t> constant_ints(const ir::Module& module, ir::ValueId value) {
  const ir::Tensor* tensor = module.constant(value);
  return tensor == nullptr ? std::vector<int64_t>{-1} : ir::to_i64(*tensor);
}

std::string shape_of(const ir::Module& module, size_t input) {
  std::vector<std::string> dims;
  for (const auto& dim : module.value(module.main().inputs.at(input)).type.shape) dims.push_back(dim.text());
  return fmt::format("{}", fmt::join(dims, ","));
}

}  // namespace tvc::test

// SPDX-License-Identifier: Apache-2.0
// Builds the module from the checked message in its newest form.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/onnx/symbols.h"
#include "formats/onnx/tensors.h"

namespace tvc::onnx_format {

class Builder {
 public:
  Builder(std::shared_ptr<const pb::ModelProto> model, const std::filesystem::path& folder,
          const ImportOptions& options)
      : model_(std::move(model)), tensors_(model_, folder), symbols_(module_, options) {}
  Result<ir::Module> build();

 private:
  // -- builder.cpp
  Result<void> define(const std::string& name, ir::ValueId id);
  Result<ir::ValueId> look_up(const std::string& name);
  Result<void> initializers(const pb::GraphProto& graph, ir::GraphId id);
  Result<void> model_inputs();
  Result<void> body_inputs(const pb::GraphProto& graph, ir::GraphId id);
  Result<void> outputs(const pb::GraphProto& graph, ir::GraphId id);
  Result<ir::GraphId> body(const pb::GraphProto& graph);
  void metadata();

  // -- nodes.cpp
  Result<void> nodes(const pb::GraphProto& graph, ir::GraphId id);
  Result<void> node(const pb::NodeProto& proto, ir::GraphId id);
  Result<void> constant(const pb::NodeProto& proto, ir::GraphId id);
  Result<void> missing(const pb::NodeProto& proto, ir::GraphId id);

  // -- attributes.cpp
  Result<ir::Attr> attribute(const pb::AttributeProto& proto);
  Result<ir::Tensor> constant_value(const pb::AttributeProto& proto);

  std::shared_ptr<const pb::ModelProto> model_;
  ir::Module module_;
  TensorReader tensors_;
  Symbols symbols_;
  std::vector<std::unordered_map<std::string, ir::ValueId>> scopes_;  // innermost last
  std::vector<std::string> missing_;                                  // nodes without a definition
};

}  // namespace tvc::onnx_format

// SPDX-License-Identifier: Apache-2.0
// The importer's steps over onnx's own messages.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "support/diagnostics.h"
#include "support/result.h"

namespace tvc::onnx_format {

namespace pb = ONNX_NAMESPACE;

// -- read.cpp: the parsed, checked model, local functions inlined, types of values inferred where onnx can.
Result<std::shared_ptr<pb::ModelProto>> read_proto(const std::filesystem::path& path, Diagnostics& diagnostics);
void infer_shapes(pb::ModelProto& model);
int opset_of(const pb::ModelProto& model, const std::string& domain);  // 0: not imported
int newest_opset();

// -- upgrade.cpp: every node of the model, bodies too, as in the newest opset.
Result<void> upgrade_model(pb::ModelProto& model);
// The nodes that stand for one of the given opset. rank_of: of a value, -1 where unknown.
struct UpgradeContext {
  int opset;
  std::function<const pb::TypeProto*(const std::string&)> type_of;  // null: unknown
};
Result<std::vector<pb::NodeProto>> upgrade_node(const pb::NodeProto& node, const UpgradeContext& context);

// -- expand.cpp: nodes without a definition of ours become their schema's function body, until none is left that can.
Result<void> expand_functions(pb::ModelProto& model);
std::string operator_name(const pb::NodeProto& node);  // "Conv", "com.microsoft.X"

// -- tensors.cpp
class ExternalData {
 public:
  explicit ExternalData(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // The bytes that the tensor names, mapped; `owner` keeps them alive.
  Result<std::span<const std::byte>> bytes(const pb::TensorProto& tensor, std::shared_ptr<const void>& owner);

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const void>> files_;
  std::map<std::string, std::span<const std::byte>> views_;
};
// A view where the message holds the bytes as they are, else a copy. `owner` keeps the message alive.
Result<ir::Tensor> read_tensor(const pb::TensorProto& tensor, const std::shared_ptr<const void>& owner, ExternalData& external);
Result<ir::Tensor> read_sparse(const pb::SparseTensorProto& sparse, const std::shared_ptr<const void>& owner, ExternalData& external);

}  // namespace tvc::onnx_format

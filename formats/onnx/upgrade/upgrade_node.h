// SPDX-License-Identifier: Apache-2.0
// Nodes of older opsets in the newest opset's form.
#pragma once

#include <vector>

#include "formats/onnx/names.h"
#include "formats/onnx/protos.h"
#include "formats/onnx/value_types.h"

namespace tvc::onnx_format {

struct UpgradeContext {
  int opset;  // of the nodes as they are
  const ValueTypes& types;
  Names& names;
  int stage = 0;  // of rows.inc; 0: both
};
// The nodes that stand for one: its bodies first, then itself.
Result<std::vector<pb::NodeProto>> upgrade_tree(pb::NodeProto node, const UpgradeContext& context);
Result<void> upgrade_graph(pb::GraphProto& graph, const UpgradeContext& context);

}  // namespace tvc::onnx_format

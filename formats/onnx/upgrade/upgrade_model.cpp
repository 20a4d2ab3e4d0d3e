// SPDX-License-Identifier: Apache-2.0
// Brings every node of a model to the newest opset's form.
#include <algorithm>

#include "formats/onnx/upgrade/upgrade.h"

namespace tvc::onnx_format {
namespace {

struct Row {
  std::string_view op;
  int below;
  Result<void> (*apply)(Upgrade&);
  int stage;
};
constexpr Row kRows[] = {
#define TVC_UPGRADE(op, below, function, stage) {op, below, function, stage},
#include "formats/onnx/upgrade/rows.inc"
#undef TVC_UPGRADE
};

bool applies(const Row& row, const pb::NodeProto& node, int opset) {
  return row.op == node.op_type() && opset < row.below && node.domain().empty();
}

bool has_rows(const pb::GraphProto& graph, int opset, int stage) {
  return std::any_of(graph.node().begin(), graph.node().end(), [&](const auto& node) {
    for (const Row& row : kRows)
      if (row.stage >= stage && applies(row, node, opset)) return true;
    for (const auto& attribute : node.attribute())
      if (attribute.has_g() && has_rows(attribute.g(), opset, stage)) return true;
    return false;
  });
}

Result<void> run_stage(pb::ModelProto& model, int opset, int stage) {
  if (!has_rows(model.graph(), opset, stage)) return {};
  infer_value_types(model);
  Names names(model);
  const ValueTypes outside;
  return upgrade_graph(*model.mutable_graph(), {opset, outside, names, stage});
}

Result<std::vector<pb::NodeProto>> upgrade_node(pb::NodeProto node, const UpgradeContext& context) {
  std::vector<const Row*> rows;  // of the operator as it is named in the model
  for (const Row& row : kRows)
    if (applies(row, node, context.opset) && (context.stage == 0 || context.stage == row.stage)) rows.push_back(&row);
  std::vector<pb::NodeProto> nodes;
  if (rows.empty()) {
    nodes.push_back(std::move(node));
    return nodes;
  }
  Upgrade upgrade(std::move(node), context);
  for (const Row* row : rows) {
    if (auto status = row->apply(upgrade); !status.ok()) {
      Error error = std::move(status).error();
      error.message += fmt::format(" (opset {})", context.opset);
      return std::move(error).at(node_place(upgrade.node));
    }
  }
  nodes = std::move(upgrade.before);
  nodes.push_back(std::move(upgrade.node));
  for (auto& after : upgrade.after) nodes.push_back(std::move(after));
  return nodes;
}

}  // namespace

Result<std::vector<pb::NodeProto>> upgrade_tree(pb::NodeProto node, const UpgradeContext& context) {
  for (auto& attribute : *node.mutable_attribute())
    if (attribute.has_g()) TVC_CHECK_OK(upgrade_graph(*attribute.mutable_g(), context));
  if (context.opset < 6 && context.stage != 2) {
    Upgrade upgrade(std::move(node), context);
    upgrade.remove("consumed_inputs");
    node = std::move(upgrade.node);
  }
  return upgrade_node(std::move(node), context);
}

Result<void> upgrade_graph(pb::GraphProto& graph, const UpgradeContext& context) {
  ValueTypes types(&context.types);
  types.add(graph);
  const UpgradeContext inner{context.opset, types, context.names, context.stage};
  google::protobuf::RepeatedPtrField<pb::NodeProto> upgraded;
  upgraded.Reserve(graph.node_size());
  for (auto& node : *graph.mutable_node()) {
    TVC_TRY(auto nodes, upgrade_tree(std::move(node), inner));
    for (auto& made : nodes) *upgraded.Add() = std::move(made);
  }
  graph.mutable_node()->Swap(&upgraded);
  return {};
}

Result<void> upgrade_model(pb::ModelProto& model) {
  const int opset = opset_of(model, "") == 0 ? newest_opset() : opset_of(model, "");
  TVC_CHECK_OK(run_stage(model, opset, 1));
  if (opset_of(model, "") == 0) model.add_opset_import();  // for what the model's functions bring in
  for (auto& import : *model.mutable_opset_import())
    if (import.domain().empty()) import.set_version(newest_opset());
  return run_stage(model, opset, 2);
}

}  // namespace tvc::onnx_format
